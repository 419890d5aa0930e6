// What people say to an agent: two hundred sentences that lay something down for good, and as many that do not.

export const LAID_DOWN = `
From now on use pnpm in this repo.
From now on, commit messages are in English.
Please use tabs from now on.
Going forward, every endpoint gets a contract test.
Going forward we log in JSON.
From here on, no more feature flags without an owner.
From this point on the staging database is read only.
Always run the linter before you commit.
Always use UTC for timestamps.
Always ask before you delete a branch.
Always put new migrations into db/migrate.
always write the test first
Always name branches after the ticket.
Please always answer in German.
Please always keep the changelog sorted.
Never push to main.
Never use lodash here.
never commit the .env file
Never edit generated files by hand.
Never run the seed script in production.
Please never touch the legacy folder.
Never rename a public export without a deprecation.
And always run prettier after that.
But never on Fridays.
So never call the billing API from tests.
Also always bump the version in package.json.
Just always use the helper for that.
For dates, always use the ISO format.
In this repo, never use default exports.
With the payment client, always set a timeout.
If you touch the schema, always regenerate the types.
When in doubt: always ask me.
Tests should never talk to the network.
Handlers should always return a typed error.
You must never log the token.
You should always check the lock file in.
We have to always keep the old column for one release.
Components need to always have a story.
Errors must always carry a code.
Secrets must never be printed.
Don't ever force push.
Do not ever use sleep in tests.
Please don't ever rewrite the history of main.
We decided to keep Postgres.
We decided against GraphQL.
We've decided that retries stop after three attempts.
We have decided to drop Node 18.
We agreed on 120 columns.
We agreed that the API stays versioned by header.
We have agreed to freeze the schema until May.
We settled on Vitest.
We chose Redis for the queue.
We've chosen to store money as integer cents.
We have chosen the blue theme.
Decision: the importer is its own service.
Decision: no ORM in the worker.
Rule: one migration per pull request.
Convention: hooks are named use-something.
Policy: dependencies are pinned exactly.
The rule here is that services never share tables.
Our convention is that files are kebab case.
The convention is snake case for columns.
Our policy is to answer within a day.
Our rule is that every flag has an end date.
The decision is to stay on React 18.
Remember that the staging host has no cron.
Remember: the CI image has no git.
Remember to rebase before you push.
Remember that prices are in cents.
Please remember to run the codegen.
Keep in mind that Safari has no such API.
Keep in mind: the customer is on version 2.
Please keep in mind that the table is partitioned.
Note that the second argument is in seconds.
Note: the cache key holds the locale.
Note that we deploy from the release branch.
Don't forget to update the docs.
Do not forget that the API is rate limited.
Never forget to close the pool.
Please don't forget to sign the commits.
Ab jetzt nutzen wir pnpm.
Ab jetzt bitte alles auf Deutsch.
Ab sofort gilt die neue API.
Von nun an werden Fehler als JSON geloggt.
Ab heute kein Push auf main mehr.
Künftig kommen Migrationen in einen eigenen PR.
Bitte künftig kleinere Commits.
Zukünftig nutzen wir nur noch UTC.
Immer zuerst die Tests laufen lassen.
Immer UTC verwenden.
Nie auf main pushen.
Niemals die .env committen.
Bitte immer auf Englisch kommentieren.
Bitte nie direkt in die Datenbank schreiben.
Nutze immer den Helper dafür.
Verwende niemals Default-Exporte.
Schreib die Tests immer zuerst.
Nimm für Daten immer das ISO-Format.
Prüfe vor dem Merge immer die Migration.
Tests sollen nie ins Netz gehen.
Du sollst immer zuerst fragen.
Secrets dürfen niemals geloggt werden.
Fehler müssen immer einen Code haben.
Wir haben uns für Redis entschieden.
Wir haben entschieden, bei Postgres zu bleiben.
Wir haben beschlossen, Node 18 fallen zu lassen.
Wir haben uns auf 120 Spalten geeinigt.
Entscheidung: kein ORM im Worker.
Regel: eine Migration pro PR.
Merk dir, dass Staging kein Cron hat.
Merke dir: Preise sind in Cent.
Denk daran, vorher zu rebasen.
Denk bitte daran, dass die Tabelle partitioniert ist.
Vergiss nicht, die Doku anzupassen.
De ahora en adelante usamos pnpm.
De ahora en adelante, los commits en inglés.
A partir de ahora no se toca la rama main.
Desde ahora los errores van en JSON.
Siempre usa UTC.
Siempre ejecuta el linter antes del commit.
Nunca hagas push a main.
Nunca uses lodash aquí.
Nunca toques los archivos generados.
Por favor, siempre escribe la prueba primero.
Siempre hay que regenerar los tipos.
Nunca se borra una columna sin migración.
Usa siempre el helper para eso.
Hay que siempre preguntar antes de borrar.
Debes siempre cerrar la conexión.
Hemos decidido quedarnos con Postgres.
Decidimos no usar GraphQL.
Hemos acordado 120 columnas.
Acordamos congelar el esquema hasta mayo.
Quedamos en usar Redis para la cola.
Recuerda que el staging no tiene cron.
Recuerda: los precios van en céntimos.
Ten en cuenta que la tabla está particionada.
No olvides actualizar la documentación.
À partir de maintenant on utilise pnpm.
Dorénavant les commits sont en anglais.
Désormais, tout passe par la file Redis.
À l'avenir, une migration par PR.
Utilise toujours UTC.
Lance toujours le linter avant de committer.
Écris toujours le test d'abord.
Demande toujours avant de supprimer une branche.
Ne touche jamais aux fichiers générés.
Ne pousse jamais sur main.
Ne modifie jamais le schéma à la main.
Nous avons décidé de garder Postgres.
On a décidé de ne pas utiliser GraphQL.
On a convenu de 120 colonnes.
Nous avons choisi Redis pour la file.
On a choisi Vitest.
Souviens-toi que le staging n'a pas de cron.
Rappelle-toi que les prix sont en centimes.
N'oublie pas de mettre à jour la doc.
Retiens que la table est partitionnée.
Garde en tête que Safari n'a pas cette API.
从现在起使用 pnpm。
从现在开始,提交信息都用英文。
从今以后不要直接推送到 main。
以后都用 UTC 时间。
以后不要改生成的文件。
以后请先写测试。
今后错误日志统一用 JSON。
总是先运行 linter。
请始终使用 ISO 日期格式。
务必在提交前跑测试。
永远不要提交 .env 文件。
千万别在生产环境运行种子脚本。
每次都要先 rebase。
一律使用驼峰命名。
绝不能打印令牌。
禁止在测试里访问网络。
切勿手动修改 schema。
我们决定继续用 Postgres。
我们已经决定放弃 Node 18。
我们约定每行最多 120 列。
我们商定冻结 schema 到五月。
记住,价格以分为单位。
请记住预发环境没有 cron。
记得先更新文档。
别忘了升级版本号。
今後は pnpm を使ってください。
これからはコミットメッセージを英語で書いてください。
今後、エラーは JSON で出力する。
必ず先にテストを書いてください。
日付は常に ISO 形式を使ってください。
コミットの前に必ず lint を実行すること。
いつも UTC を使ってください。
決して main に直接プッシュしないでください。
絶対に .env をコミットしないで。
絶対に生成ファイルを触らないで。
Postgres を使い続けることにしました。
キューは Redis に決めました。
GraphQL は使わないことに決めた。
ステージングに cron がないことを覚えておいて。
価格はセント単位だと覚えておいてください。
ドキュメントの更新を忘れないで。
`
  .trim()
  .split("\n");

export const SAID_BY_THE_WAY = `
Why does the login page blink?
It always fails on the second run.
The test never finishes on CI.
I never saw that error before.
Why does it always return 500?
Is it always like that?
Does the worker never retry?
This has never worked for me.
The build is always red on Mondays.
He always forgets the lock file.
The cache never expires, it seems.
That function is never called.
It was always slow.
Fix the flaky test.
Add a button to the header.
Run the tests.
What did we decide about the queue?
Did we agree on a format?
Which database have we decided on?
Have we chosen a test runner yet?
Do you remember that bug in the parser?
I remember that we had this before.
You remember to close it, right?
I can't remember that port.
I don't remember to whom it belongs.
Can you remember that for me?
What should I note that down for?
Where is the rule defined?
Which rule is that?
Show me the convention for hooks.
Rename the file.
Refactor the payment client.
The rules engine is broken.
Open the decisions folder.
List all decisions of last week.
Explain the policy module.
The policy check fails with 403.
Write a changelog line.
Commit it and push the branch.
Looks good, thanks!
ok
yes, go on
Continue with the plan.
Try again with a bigger timeout.
The user can never reach this page.
A request that never returns blocks the pool.
Users always land on the old page.
The docs say it is always null.
It says the value must be a number.
The tests should pass now.
You should see the error in the log.
We should look at the migration.
We need to find the leak.
We have to deploy today.
Does it need to run as root?
Should we always use UTC?
Must the token never be logged?
Can we always assume a session?
How do I always show the banner?
When is the handler never called?
Is there a rule: one migration per pull request?
I decided to take a break.
She decided to leave the team.
They agreed to the terms.
The customer chose the blue one.
The reviewer has decided nothing yet.
The algorithm decides which node wins.
The future of this module is unclear.
In the future tense the verb changes.
A note about the cache would help.
Add a note to the README.
Add a test that remembers the last page.
The "remember me" checkbox is broken.
Implement remember-me for the login.
The form forgets the values.
Do not merge this yet.
Don't change anything else.
Don't run it now.
Do not use the cache for this request.
Never mind.
never mind, found it
It is now or never: where is the bug?
Nothing ever happens when I click.
Has anyone ever seen this?
Did you ever run the seed script?
Use the new endpoint for this call.
Use pnpm to install it.
Put the file into src.
Ask the API for the list.
Check whether the lock file is there.
Call the function with two arguments.
Name the branch fix-login.
The always-on host is down.
The \`never\` type confuses me.
TypeScript says type never is not assignable.
Type 'string' is not assignable to type 'never'.
error: the option "always" is unknown
restart: always does not work in compose
Set restart to always in docker-compose.
The cron runs from now on the wrong machine?
Let me know what you think.
What is the best way to store money?
Which is better, Redis or Postgres?
Compare Vitest and Jest.
Summarize the session.
Who wrote this?
The commit message is wrong.
The migration is missing.
There are two copies of the plugin.
The page is blank after login.
It takes ten seconds to start.
Memory usage doubles every hour.
The import is slow because of the index.
I think the regex is too greedy.
Maybe the proxy is the problem.
Here is the stack trace.
See the attached file.
The log says: connection refused
TypeError: cannot read properties of undefined
npm test fails with exit code 1
The response has no body.
Warum ist das immer so langsam?
Das geht nie gut.
Der Test ist immer rot.
Es funktioniert nie beim ersten Mal.
Ich habe das noch nie gesehen.
Wird das immer aufgerufen?
Haben wir uns schon entschieden?
Was haben wir zur Queue beschlossen?
Er hat sich für Redis entschieden.
Repariere den Test.
Füge einen Button hinzu.
Benenne die Datei um.
Kannst du dir das merken?
Wo steht die Regel?
Zeig mir die Entscheidung.
Die Seite bleibt leer.
Das hat er vergessen.
Ist das für die Zukunft wichtig?
Die Zukunft des Moduls ist offen.
Mach weiter.
Sieht gut aus, danke.
Der Server antwortet nicht.
Wie immer rot.
Nie gesehen, diesen Fehler?
Muss das immer so sein?
¿Por qué siempre falla?
Siempre falla en CI.
Nunca termina la prueba.
La caché nunca expira.
¿Hemos decidido algo sobre la cola?
¿Recuerdas ese error?
Arregla la prueba.
Añade un botón.
El servidor no responde.
Es siempre lento.
Ella decidió irse.
No recuerdo el puerto.
Muestra la regla.
Gracias, sigue.
La página está en blanco.
¿Siempre hay que usar UTC?
Nunca he visto ese error.
Pourquoi est-ce toujours si lent ?
Le test échoue toujours.
Le cache n'expire jamais.
Je n'ai jamais vu cette erreur.
Avons-nous décidé pour la file ?
Corrige le test.
Ajoute un bouton.
Le serveur ne répond pas.
Il a choisi le bleu.
Montre la règle.
Merci, continue.
La page est vide.
Tu te souviens de ce bug ?
C'est toujours rouge.
On verra plus tard.
为什么总是失败?
测试总是很慢。
这个页面从来没有打开过。
我们决定了吗?
你记得那个错误吗?
修复这个测试。
添加一个按钮。
服务器没有响应。
我不记得端口了。
规则在哪里定义?
谢谢,继续。
页面是空白的。
他决定离开了。
一直返回 500。
以后呢?
なぜいつも失敗するのですか?
テストはいつも遅いです。
このエラーは見たことがない。
キューは決まりましたか?
テストを直して。
ボタンを追加して。
サーバーが応答しません。
ポートを覚えていません。
ルールはどこですか?
ありがとう、続けて。
ページが真っ白です。
常に 500 が返ってきます。
彼は辞めることにしたらしい。
必ず失敗します。
以前のコミットを見せて。
`
  .trim()
  .split("\n");
