// The words by which talk and follow-ups are known, in English, German, Spanish, French, Chinese and Japanese. Lower
// case; of Chinese and Japanese, which put no spaces between words, whole phrases.

/** Words that say nothing of a subject. */
export const FUNCTION_WORDS: ReadonlySet<string> = new Set(
  `
a an the and or but nor so then than as if of at by for from in into on onto to up out off over under with
without about i me my mine we us our ours you your yours he him his she her hers it its they them their theirs
this that these those there here is are was were be been being am do does did done doing have has had having
will would shall should can could may might must ought not no yes none any some all both each every either
neither other others another same such own what which who whom whose when where why how while until since
because before after again once also too very just only even still yet already now later soon maybe perhaps
really quite rather more most less least much many few lot lots bit else s t d ll m re ve don doesn didn isn
aren wasn weren won wouldn couldn shouldn hasn haven hadn let lets get got gets getting go goes going gone went
come comes back make makes made making take takes took put one ones thing things something anything nothing
everything somebody someone anybody anyone way want wants wanted need needs needed like think know see look
looks looking seem seems try use uses used using gonna wanna der die das den dem des ein eine einen einem einer
eines und oder aber denn doch sondern wenn als wie wo wer wen wem wessen wann warum wieso weshalb welche welcher
welches welchen ich mich mir mein meine meinen wir uns unser unsere du dich dir dein deine ihr euch euer er ihn
ihm sein seine sie es man sich nicht kein keine keinen nichts auch noch schon nur mal nochmal wieder jetzt dann
da hier dort sehr mehr weniger viel viele alle alles beide jede jeder jedes ist sind war waren bin bist seid
wird werden wurde wurden hat haben hatte hatten habe kann kannst konnen können konnte darf durfen dürfen muss
mussen müssen soll sollen sollte wollen wollte mag mochte möchte zu zum zur von vom mit nach bei beim aus auf im
ins um uber über unter vor hinter durch fur für ohne gegen bis seit ob dass daß dies diese dieser dieses diesen
bitte el la los las lo un una unos unas y e o u pero sino si como que qué quien quién cual cuál cuando cuándo
donde dónde por porque para con sin sobre entre hasta desde de del al en yo mi mis tu tus te su sus se nos
nuestro nuestra ustedes ellos ellas él ella eso esto esta este estas estos esa ese esos esas son era eran ser
estar está están estaba hay ha han hemos fue fueron sí ya también tampoco muy mas más menos mucho muchos poco
todo todos toda todas otro otra otros otras mismo misma así aquí ahí allí ahora luego después antes vez puede
pueden puedo podemos debe debemos quiero hacer le les une au aux et ou mais donc car ni qui quoi dont où quand
comment pourquoi quel quelle quels quelles ce cet cette ces c ça cela ceci je j moi mon ma mes nous notre vous
votre vos toi ton ta tes il elle ils elles lui leur leurs sa ses est sont était étaient être suis sommes êtes ai
avons avez ont avait fait faire peut peux pouvons doit dois faut ne pas plus moins très trop peu beaucoup tout
tous toute toutes autre autres même aussi encore déjà maintenant ici là l n qu avec sans sur sous dans par pour
chez vers depuis`
    .trim()
    .split(/\s+/),
);

/** Approval, thanks, greeting, refusal, steering: said to whoever works, not about what. */
export const TALK_WORDS: ReadonlySet<string> = new Set(
  `
ok okay k kk okey yep yeah yup yea ya nope nah hmm hm mhm uh um oh ah aha wow cool nice great good perfect
excellent awesome amazing fine fantastic brilliant wonderful lovely super neat sweet sure right correct exactly
indeed agreed true alright fair enough sounds thanks thank thx ty cheers please pls sorry welcome hi hello hey
morning afternoon evening night bye goodbye ciao well done job work works worked working continue proceed go
ahead keep carry next step steps start stop wait hold pause finish finished resume cancel abort undo redo revert
retry rerun repeat again forward commit push ship merge apply accept reject skip ignore leave move run read
reread show tell explain summarize say said write rewrite check recheck look wrong bad better best worse option
options choice number first second third last previous file files line code change changes answer question idea
plan everything break today tomorrow minute moment sec lets off ready hope understood understand makes sense
mean means meant mind never mistake mistakes approve approved agree reverted diff pr prs open pull request test
tests time slower faster slowly lgtm wip btw fyi np yw asap plz jo joa gut prima toll klasse genau richtig
stimmt passt einverstanden danke dank dankeschön hallo moin servus tschüss morgen abend tag weiter mach machen
macht fortfahren los geht warte wart halt stopp zurück rückgängig nochmals falsch datei ja nein nö doch perfekt
alles klar gerne gern entschuldigung committe committen pushen schritt nächster nächste nächsten fertig erledigt
bitteschön lieber reicht heute falsche falschen richtige anders genug feierabend gracias vale bueno buena bien
perfecto perfecta genial estupendo excelente claro correcto exacto acuerdo hola adiós adios buenos buenas días
tardes noches adelante sigue seguir continúa continua continuar procede espera para parar detente deshacer
deshaz hazlo dale listo venga favor siguiente paso archivo mal muchas muchísimas mañana intenta inténtalo
pruebas merci bon bonne parfait parfaite génial accord oui non ouais bonjour bonsoir salut revoir voilà vas-y
allez vas continuer continuez procède attends attendez arrête arrêter annule annuler plaît svp stp suivant
suivante étape fichier faux mauvais beaucoup demain essaie essaye teste testez`
    .trim()
    .split(/\s+/),
);

/** What is left of a question that leans on the prompt before it. */
export const ASKING_WORDS: ReadonlySet<string> = new Set(
  `
what which who whom whose when where why how warum wieso weshalb wann wo wie was wer welche welcher welches qué
quién cuál cuándo dónde cómo quoi quand comment pourquoi où quel quelle`
    .trim()
    .split(/\s+/),
);

/** Function words of Chinese and Japanese. */
export const CJK_FUNCTION_PHRASES: ReadonlySet<string> = new Set(
  `
的 了 吗 呢 吧 啊 呀 嘛 么 是 不是 在 和 与 或 也 都 就 还 再 又 很 太 更 最 有 没有 没 不 要 会 能 可以 可能 应该 必须 需要 这 那 这个 那个 这些 那些 这里 那里 它 他 她 我 你
您 我们 你们 他们 自己 一个 一下 一点 什么 怎么 怎样 怎么样 为什么 哪里 哪个 哪些 谁 几 多少 多大 多久 多长 什么时候 如果 因为 所以 但是 但 而且 然后 之后 以后 以前 时候 现在 已经 同样
一样 另一个 其他 另外 上面 下面 里 上 下 中 对 给 把 被 从 到 用 以 为 让 请 个 次 种 の は が を に へ と で も や か から まで より だ です ます ました ません でした でしょう
ない なかった ある あります いる います する します した して される された これ それ あれ この その あの ここ そこ どこ どれ どの どう どうして なぜ なに 何 だれ 誰 いつ いくつ いくら
どのくらい どうなりますか ですか ますか ください こと もの とき 場合 ため よう そう でも しかし そして また もう まだ すぐ 同じ ほか 私 僕 俺 あなた`
    .trim()
    .split(/\s+/),
);

/** Talk in Chinese and Japanese. */
export const CJK_TALK_PHRASES: ReadonlySet<string> = new Set(
  `
好 好的 好吧 好了 行 可以 可以的 没问题 对 对的 是的 嗯 嗯嗯 谢谢 多谢 感谢 谢谢你 辛苦了 继续 继续吧 请继续 开始 开始吧 停 停下 等等 等一下 不对 错了 撤销 回退 重试 再试 再来 提交 提交吧
推送 合并 完成 完美 很好 不错 太好了 棒 你好 您好 早上好 晚上好 再见 拜拜 下一步 没事 算了 明白 明白了 知道了 收到 看看 文件 一次 再试一次 测试 运行 重新 代码 はい いいえ うん ええ ありがとう
ありがとうございます どうも お願い お願いします よろしく よろしくお願いします 続けて 続けてください 続き 次 次へ 進めて 進めてください 止めて 待って ちょっと 違う 違います 戻して やり直し やり直して
いいね いいです いいですね 良い よい 了解 了解です わかりました 分かりました 完璧 すごい 素晴らしい おはよう こんにちは こんばんは さようなら コミット コミットして プッシュ マージ ファイル オーケー
オッケー 大丈夫`
    .trim()
    .split(/\s+/),
);
