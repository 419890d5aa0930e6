// Tokens that their issuers made recognisable. Prefixes and lengths are facts from the public lists of secret scanners
// (gitleaks, TruffleHog, GitHub's supported patterns) and of the issuers' own documentation.

/**
 * Whole ones, wherever they stand: a letter before one may belong to an escape (`\nghp_…`). Lengths are bounded
 * because engines give up on repetitions of many millions.
 */
export const ISSUED_TOKENS = new RegExp(
  [
    // GitHub, GitLab, Slack
    "gh[pousr]_\\w{16,999}",
    "github_pat_\\w{20,999}",
    "gl(?:pat|dt|rtr?|cbt|ptt|ft|soat|imt|agent|oas|ffct)-[\\w-]{16,999}",
    "gloas-\\w{20,999}",
    "xox[a-z]-[\\w-]{10,999}",
    "xapp-[\\w-]{20,999}",
    // AWS, Google, DigitalOcean, Tailscale, Supabase
    "(?:AKIA|ASIA|AGPA|AROA|ABIA|ACCA)[0-9A-Z]{16}(?![0-9A-Z])",
    "AIza[\\w-]{30,999}",
    "ya29\\.[\\w-]{16,999}",
    "do[opr]_v1_\\w{32,999}",
    "tskey-[\\w-]{16,999}",
    "sbp_\\w{20,999}",
    // Google OAuth, Vault, Grafana, Figma, Notion, Square, New Relic, Mailgun, Twilio
    "GOCSPX-[\\w-]{20,99}",
    "hv[sbr]\\.[\\w-]{20,999}",
    "gl(?:sa|c)_[\\w+/=]{20,999}",
    "figd_[\\w-]{20,99}",
    "ntn_\\w{20,99}",
    "sq0(?:atp|csp)-[\\w-]{20,99}",
    "NRAK-\\w{20,99}",
    "key-[0-9a-f]{32}(?![0-9a-f])",
    "SK[0-9a-f]{32}(?![0-9a-f])",
    // Package registries
    "npm_\\w{30,999}",
    "pypi-\\w[\\w-]{30,999}",
    "dckr_[po]at_[\\w-]{20,999}",
    // Stripe, Shopify, SendGrid, Linear, Atlassian, Telegram, age
    "[sr]k_(?:live|test)_\\w{10,999}",
    "whsec_\\w{16,999}",
    "shp(?:at|ca|pa|ss)_\\w{20,999}",
    "SG\\.[\\w-]{16,999}\\.[\\w-]{16,999}",
    "lin_api_\\w{20,999}",
    "ATATT3[\\w-]{20,999}",
    "\\d{8,10}:AA[\\w-]{30,999}",
    "AGE-SECRET-KEY-1\\w{20,999}",
    "sk-(?:ant|proj|or-v1)-[\\w-]{20,999}",
    // Model providers. `sk-` also ends words (`task-…`) and starts names (`sk-learn-…`): a long part has to have a
    // digit.
    "(?<![A-Za-z0-9](?<!\\\\[nrt]|\\[[\\d;]{0,9}m))sk-(?:\\w{1,20}-){0,5}(?=\\w{0,60}\\d)\\w{16,999}[\\w-]*",
    "hf_\\w{20,999}",
    "gsk_\\w{20,999}",
    "xai-\\w{20,999}",
    "pplx-\\w{20,999}",
    "r8_\\w{20,999}",
    "nvapi-[\\w-]{20,999}",
    // JWTs, and all else that starts as JSON does in base64
    "eyJ[\\w-]{12,9999}(?:\\.[\\w-]{0,9999}){0,2}",
    // Discord's bots, Azure's applications, 1Password
    "(?<![\\w-])[MNO][\\w-]{23,27}\\.[\\w-]{6,7}\\.[\\w-]{27,40}",
    "(?<![\\w~.-])[\\w~.-]{3}\\dQ~[\\w~.-]{31,34}",
    "ops_eyJ[\\w-]{40,999}",
    "(?<!\\w)A3-[A-Z0-9]{6}-(?:[A-Z0-9]{11}|[A-Z0-9]{6}-[A-Z0-9]{5})(?:-[A-Z0-9]{5}){3}",
    // Databricks, Postman, RubyGems, crates.io, Pulumi, Doppler, Facebook, Sentry, PostHog, PlanetScale, NuGet
    "dapi[0-9a-f]{32}",
    "PMAK-[0-9a-f]{24}-[0-9a-f]{34}",
    "rubygems_[0-9a-f]{48}",
    "(?<!\\w)cio[A-Za-z0-9]{32}(?!\\w)",
    "(?<!\\w)pul-[0-9a-f]{40}",
    "(?<!\\w)dp\\.(?:pt|st|ct|sa|scim|audit)\\.[\\w.-]{20,99}",
    "(?<!\\w)EAA[MC][A-Za-z0-9]{20,999}",
    "sntry[su]_[\\w+/=]{40,999}",
    "(?<!\\w)ph[cx]_\\w{40,99}",
    "pscale_(?:pw|tkn|oauth)_[\\w.=-]{20,99}",
    "(?<!\\w)oy2[a-z0-9]{43}(?!\\w)",
    // Flutterwave, Cloudflare, Fly, EasyPost, Clojars, Airtable, Heroku, Notion, Alibaba, Tencent, Terraform, Mailchimp
    "FLW(?:SEC|PUB)K(?:_TEST)?-[\\w-]{20,99}",
    "v1\\.0-[0-9a-f]{24}-[0-9a-f]{146}",
    "cfat_[\\w-]{30,99}",
    "(?<!\\w)f(?:o1|m[12])_[\\w+/=,-]{40,9999}",
    "(?<!\\w)EZ[AT]K[A-Za-z0-9]{54}",
    "CLOJARS_[a-z0-9]{60}",
    "(?<!\\w)pat[A-Za-z0-9]{14}\\.[0-9a-f]{64}",
    "HRKU-AA[\\w-]{50,99}",
    "(?<!\\w)secret_[A-Za-z0-9]{43}(?!\\w)",
    "(?<!\\w)(?:LTAI|AKID)[A-Za-z0-9]{16,32}(?!\\w)",
    "[a-z0-9]{14}\\.atlasv1\\.[\\w=-]{60,99}",
    "(?<!\\w)[0-9a-f]{32}-us\\d{1,2}(?!\\w)",
    // Brevo, Dynatrace, Duffel, Frame.io, Prefect, ReadMe, Sourcegraph, Typeform, Adafruit, Contentful, Infracost
    "xkeysib-[0-9a-f]{64}-\\w{16}",
    "dt0[cs]\\d\\d\\.[A-Z0-9]{24}\\.[A-Z0-9]{64}",
    "duffel_(?:test|live)_[\\w-]{43}",
    "fio-u-[\\w-]{64}",
    "pnu_[A-Za-z0-9]{36}",
    "rdme_[a-z0-9]{70}",
    "sgp_(?:[0-9a-f]{16}_|local_)?[0-9a-f]{40}",
    "tfp_[\\w-]{59}",
    "aio_[A-Za-z0-9]{28}(?!\\w)",
    "CFPAT-[\\w-]{43}",
    "(?<!\\w)ico-[A-Za-z0-9]{32}",
  ].join("|"),
  "g",
);

/** How those begin that no word does. */
const PREFIXES = [
  "gh[pousr]_|github_pat_|gl(?:pat|dt|rtr?|cbt|ptt|ft|soat|imt|agent|oas)-|gloas-|xox[a-z]-|xapp-|AKIA|ASIA|AIza",
  "ya29\\.|GOCSPX-|do[opr]_v1_|hv[sbr]\\.|glsa_|dckr_[po]at_|[sr]k_(?:live|test)_|whsec_|shp(?:at|ca|pa|ss)_|SG\\.",
  "lin_api_|ATATT3",
  "sk-(?:ant|proj|or-v1)-|pypi-AgE|AGE-SECRET-KEY-1|nvapi-|eyJ",
  "(?<![\\w-])[MNO][\\w-]{23,27}\\.[\\w-]{6,7}\\.",
].join("|");

/** One that was cut, by the host or by us, at the end of the text or ahead of the mark of a cut. */
export const CUT_TOKENS = new RegExp(
  `(?<![A-Za-z0-9])(?:${PREFIXES})(?=[\\w.~-]{0,200}[\\dA-Z])[\\w.~-]{3,999}(?=\\s{0,9}(?:…|\\.{3}|$))`,
  "g",
);
