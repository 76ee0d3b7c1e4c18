"""What secrets look like: families of linear-time patterns, each behind literals that must stand in the text first.

A pattern's group `secret` is what goes; without one the whole match goes. No pattern nests quantifiers, and every
repetition of a class ends at a character outside it or has an upper bound. Most are tried only at their literals: a
pattern that begins with an assertion costs 30 to 400 ns for every character, finding a literal next to nothing.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

_WORD_START = r"(?<![A-Za-z0-9_-])"
_WORD_END = r"(?![A-Za-z0-9_-])"


@dataclass(frozen=True, slots=True)
class Pattern:
    """One kind of secret. `judge` names a further check on the value, for kinds whose shape alone says too little."""

    kind: str
    regex: re.Pattern[str]
    judge: str | None = None


@dataclass(frozen=True, slots=True, eq=False)
class Family:
    """Patterns that can only match where one of `literals` (lower case) stands in the lower-cased text.

    A match begins at one of the literals or up to `before` characters ahead of it; None: anywhere. `opens` is what each
    match begins with, where many patterns share that. `digits`: its literal is a row of digits, whichever they are and
    with blanks and hyphens between them. No literal has white space in it.
    """

    literals: tuple[str, ...]
    patterns: tuple[Pattern, ...]
    before: int | None = 0
    opens: re.Pattern[str] | None = None
    digits: bool = False


def _token(kind: str, literal: str, body: str, *, before: int = 0) -> Family:
    """A token with a fixed part, such as `ghp_…`."""
    return Family((literal.lower(),), (Pattern(kind, re.compile(_WORD_START + body + _WORD_END)),), before)


def _family(
    kind: str,
    literals: tuple[str, ...],
    regex: str,
    judge: str | None = None,
    *,
    before: int | None = 0,
    digits: bool = False,
) -> Family:
    return Family(literals, (Pattern(kind, re.compile(regex, re.IGNORECASE), judge),), before, digits=digits)


_TOKENS = (
    Family(
        ("akia", "asia", "abia", "acca"),
        (Pattern("aws_access_key", re.compile(_WORD_START + r"(?:AKIA|ASIA|ABIA|ACCA)[A-Z0-9]{16}" + _WORD_END)),),
    ),
    _token("google_api_key", "AIza", r"AIza[0-9A-Za-z_-]{33,40}"),
    _token("google_oauth", "GOCSPX-", r"GOCSPX-[0-9A-Za-z_-]{20,60}"),
    _token("google_oauth", "ya29.", r"ya29\.[0-9A-Za-z_.-]{20,2000}"),
    _token("github_token", "gh", r"gh[pousr]_[A-Za-z0-9]{16,255}"),
    _token("github_token", "github_pat_", r"github_pat_[A-Za-z0-9_]{20,255}"),
    _token("gitlab_token", "gl", r"gl(?:pat|dt|rt|cbt|ptt|ft|oas|soat|agent|imt)-[0-9A-Za-z_.-]{16,255}"),
    _token("slack_token", "xox", r"xox[abeoprs](?:\.xox[bp])?-[0-9A-Za-z-]{8,255}"),
    _token("slack_token", "xapp-", r"xapp-[0-9A-Za-z-]{8,255}"),
    _token("stripe_key", "k_", r"[rs]k_(?:live|test|prod)_[0-9A-Za-z]{8,255}", before=1),
    _token("stripe_webhook_secret", "whsec_", r"whsec_[0-9A-Za-z+/=]{16,255}"),
    _token("anthropic_key", "sk-ant-", r"sk-ant-[0-9A-Za-z_-]{8,255}"),
    _token("openrouter_key", "sk-or-", r"sk-or-[0-9A-Za-z_-]{8,255}"),
    _token(
        "openai_key",
        "sk-",
        r"sk-(?:(?:proj|svcacct|admin)-[\w-]{16,255}|[0-9A-Za-z]{20,255}|"
        r"(?=[\w-]{0,60}[A-Z])(?=[\w-]{0,60}[0-9])[\w-]{16,255})",
    ),
    _token("huggingface_token", "hf_", r"hf_[0-9A-Za-z]{16,255}"),
    _token("groq_key", "gsk_", r"gsk_[0-9A-Za-z]{20,255}"),
    _token("xai_key", "xai-", r"xai-[0-9A-Za-z]{20,255}"),
    _token("perplexity_key", "pplx-", r"pplx-[0-9A-Za-z]{20,255}"),
    _token("replicate_token", "r8_", r"r8_[0-9A-Za-z]{20,255}"),
    _token("npm_token", "npm_", r"npm_[0-9A-Za-z]{20,255}"),
    _token("pypi_token", "pypi-", r"pypi-Ag[0-9A-Za-z_-]{16,1000}"),
    _token("docker_token", "dckr_", r"dckr_(?:pat|oat)_[0-9A-Za-z_-]{16,255}"),
    _token("digitalocean_token", "_v1_", r"do[opr]_v1_[0-9a-f]{32,255}", before=3),
    _token("twilio_key", "sk", r"SK[0-9a-f]{32}"),
    _token("sendgrid_key", "sg.", r"SG\.[0-9A-Za-z_-]{16,64}\.[0-9A-Za-z_-]{16,128}"),
    _token("mailgun_key", "key-", r"key-[0-9a-f]{32}"),
    _token("mailchimp_key", "-us", r"[0-9a-f]{32}-us[0-9]{1,2}", before=32),
    _token("shopify_token", "shp", r"shp(?:at|ca|pa|ss)_[0-9A-Fa-f]{24,64}"),
    _token("square_token", "sq0", r"sq0(?:atp|csp|idp)-[0-9A-Za-z_-]{20,64}"),
    _token("linear_key", "lin_", r"lin_(?:api|oauth)_[0-9A-Za-z]{20,255}"),
    _token("notion_token", "ntn_", r"ntn_[0-9A-Za-z]{20,255}"),
    _token("notion_token", "secret_", r"secret_[0-9A-Za-z]{40,64}"),
    _token("vault_token", "hv", r"hv[sbr]\.[0-9A-Za-z_-]{20,255}"),
    _token("databricks_token", "dapi", r"dapi[0-9a-f]{32}(?:-[0-9])?"),
    _token("newrelic_key", "nr", r"NR(?:AK|JS|II|AA)-[0-9A-Za-z]{16,64}"),
    _token("terraform_token", ".atlasv1.", r"[0-9A-Za-z]{14}\.atlasv1\.[0-9A-Za-z_-]{30,255}", before=14),
    _token("age_key", "age-secret-key-1", r"AGE-SECRET-KEY-1[0-9A-Z]{40,64}"),
    _token("tailscale_key", "tskey-", r"tskey-[0-9A-Za-z-]{10,255}"),
    _token("doppler_token", "dp.", r"dp\.(?:pt|st|ct|sa|scim|audit)\.[0-9A-Za-z_.-]{20,128}"),
    _token("sentry_token", "sntry", r"sntry[su]_[0-9A-Za-z_=+/-]{20,512}"),
    _token("grafana_token", "gl", r"gl(?:sa|c)_[0-9A-Za-z_=+/-]{20,512}"),
    _token("heroku_key", "hrku-", r"HRKU-[0-9A-Za-z_-]{20,128}"),
    _token("supabase_token", "sb", r"(?:sbp_[0-9a-f]{32,64}|sb_secret_[0-9A-Za-z_-]{16,128})"),
    _token("netlify_token", "nfp_", r"nfp_[0-9A-Za-z]{20,128}"),
    _token("postman_key", "pmak-", r"PMAK-[0-9a-f]{20,32}-[0-9a-f]{20,64}"),
    _token("figma_token", "figd_", r"figd_[0-9A-Za-z_-]{20,128}"),
    _token("atlassian_token", "atatt3", r"ATATT3[0-9A-Za-z_=-]{20,512}"),
    _token("airtable_token", "pat", r"pat[0-9A-Za-z]{14}\.[0-9a-f]{40,80}"),
    _token("planetscale_token", "pscale_", r"pscale_(?:tkn|pw|oauth)_[0-9A-Za-z_.-]{20,128}"),
    _token("fly_token", "fm", r"fm[12][a-z]?_[0-9A-Za-z+/=_-]{40,2000}"),
    _token("telegram_token", ":aa", r"[0-9]{8,10}:AA[0-9A-Za-z_-]{32,40}", before=10),
    # Vendors nobody has heard of follow Stripe's habit: a short name, live or test, a token with a digit or a capital.
    Family(
        ("_live_", "_test_", "_prod_", "_secret_"),
        (
            Pattern(
                "api_key",
                re.compile(
                    _WORD_START + r"[a-z][a-z0-9]{1,15}_(?:live|test|prod|secret)_(?=[\w-]{0,40}[0-9A-Z])"
                    r"[0-9A-Za-z][0-9A-Za-z_-]{11,255}" + _WORD_END
                ),
            ),
        ),
        before=16,
    ),
)

_STRUCTURED = (
    _family(
        "jwt", ("eyj",), _WORD_START + r"eyJ[0-9A-Za-z_-]{8,4000}\.eyJ[0-9A-Za-z_-]{4,8000}(?:\.[0-9A-Za-z_-]{0,2000})?"
    ),
    Family(
        ("-----begin",),
        (
            Pattern(
                "private_key",
                # Up to the END line, or, where it was cut off, as far as the text still looks like key material.
                re.compile(
                    r"-----BEGIN (?:[A-Z0-9]{2,10} ){0,3}PRIVATE KEY(?: BLOCK)?-----"
                    r"(?:(?:(?!-----)[\s\S]){0,20000}-----END [A-Z0-9 ]{0,60}-----|"
                    r"(?:[\s\\nr]|[A-Za-z0-9+/=]{16,200})*)"
                ),
            ),
        ),
    ),
    _family(
        "connection_string",
        ("://",),
        r"(?<![a-z0-9+.-])[a-z][a-z0-9+.-]{1,30}://[^\s:/@'\"<>`]{0,100}:(?P<secret>[^\s/'\"<>`@]{1,200})@(?=[\w\[])",
        judge="assigned",
        before=31,
    ),
    _family(
        "slack_webhook",
        ("hooks.slack.com",),
        r"hooks\.slack\.com/(?:services|workflows|triggers)/(?P<secret>[A-Za-z0-9/_-]{20,200})",
    ),
    _family(
        "discord_webhook",
        ("/api/webhooks/",),
        r"discord(?:app)?\.com/api/webhooks/(?P<secret>[0-9]{10,25}/[\w-]{20,128})",
        before=14,
    ),
    _family(
        "azure_storage_key",
        ("accountkey=", "sharedaccesskey="),
        r"(?:Account|SharedAccess)Key=(?P<secret>[A-Za-z0-9+/]{30,100}={0,2})",
    ),
    _family(
        "signed_url",
        ("sig=", "signature="),
        r"[?&;](?:sig|signature|x-amz-signature|x-goog-signature)=(?P<secret>[A-Za-z0-9%+/=_-]{16,600})",
        before=8,
    ),
    _family("bearer_token", ("bearer",), r"\bbearer\s{1,4}(?P<secret>[A-Za-z0-9._~+/=-]{8,4000})", judge="token_like"),
    _family(
        "basic_auth",
        ("authorization",),
        r"\bauthorization['\"]?\s{0,4}[:=]\s{0,4}['\"]?basic\s{1,4}(?P<secret>[A-Za-z0-9+/]{6,400}={0,2})",
    ),
    _family(
        "basic_auth",
        ("curl", "wget", "http"),
        r"\s(?:-u|--user)[ =]['\"]?[\w.@-]{1,64}:(?P<secret>[^\s'\"]{3,128})",
        judge="not_a_reference",
        before=None,
    ),
    _family(
        "session_cookie",
        ("cookie",),
        r"\b(?:set-)?cookie\s{0,2}:\s{0,4}(?P<secret>[^\r\n]{8,4000})",
        judge="not_a_reference",
        before=4,
    ),
    _family(
        "payment_card",
        ("0" * 13,),
        # A digit first, then what may not stand before it: so that all else is skipped fast.
        r"[0-9](?<![\w.-][0-9])(?:[ -]?[0-9]){12,18}(?![\w-]|\.[0-9])",
        judge="card_number",
        before=None,
        digits=True,
    ),
    _family(
        "card_code", ("cvv", "cvc"), r"\b(?:cvv2?|cvc2?)\b[\s:=]{0,3}(?:(?:is|ist|är|to)\s)?(?P<secret>[0-9]{3,4})\b"
    ),
)

# Words that announce a secret, in the product's languages and two neighbours'. What such a word is joined to, on its
# left, stays open ("VPN-Passwort", "db_password"); German ones also join without a hyphen ("Datenbankpasswort").
_START = r"(?<![^\W_])"
_PASSWORD = (
    r"(?:"
    + _START
    + r"(?:passwords?|passwd|passphrases?|passcodes?|pwd|pw|pword|lösenord(?:et)?|hasło|hasła|haslo|mot de passe|"
    r"contraseña|(?:wi-?fi|wpa2?|wlan)[ -](?:key|schlüssel|password)|(?-i:PIN|PUK|TAN)(?:[ -]?code)?|"
    r"(?:door|gate|alarm|safe)[ -]code|portkod(?:en)?)"
    r"|passwort|passwörter|kennwort|kennwörter|türcode|zugangscode)"
)
_PASS = _START + r"pass"
_KEY = (
    r"(?:" + _START + r"(?:api[ _-]?(?:keys?|secrets?|tokens?)|"
    r"(?:access|auth|refresh|session|bearer|bot|personal)[ _-]?(?:keys?|tokens?)|"
    r"(?:secret|private|signing|encryption|deploy|licen[sc]e|account)[ _-]?(?:access[ _-]?)?keys?|client[ _-]?secrets?|"
    r"secrets?|tokens?|creds?|credentials?|(?:recovery|backup)[ _-]?codes?|nyckel\w{0,2}|klucz\w{0,2}|sekret\w{0,2}|"
    r"webhook)|schlüssel|geheimnis|(?:api|zugangs)-?token)"
)
_CJK = r"(?:密码|口令|密碼|密钥|令牌|パスワード|暗証番号|キー)"

_VALUE = (
    r"(?:\"(?P<dq>[^\"\n]{3,200})\"|'(?P<sq>[^'\n]{3,200})'|`(?P<bt>[^`\n]{3,200})`|(?P<secret>[^\s\"'`,;<>]{3,400}))"
)
_ASSIGNED = r"[\"'`]?[ \t]{0,3}(?::=|=>|=|:)[ \t]{0,3}"
# "password for the router is …": at most six words between, and a verb or a colon.
_TOLD = (
    r"(?:[ \t]{1,3}[\w.@'’/-]{1,30}){0,6}?"
    r"(?:[ \t]{0,3}[=:]|"
    r"[ \t]{1,3}(?:is|are|was|to|ist|lautet|lauten|war|heißt|auf|är|heter|var|till|brzmi|jest|na|->|→))"
    r"[ \t]{1,3}(?=[\"'`]|[^\s]{0,60}(?:[0-9!@#$%^&*?+=]|(?-i:[A-Z])))"
)
_NEXT = r"[ \t]{1,3}"


def _announced(kind: str, word: str, between: str, judge: str) -> Pattern:
    return Pattern(kind, re.compile(word + between + _VALUE, re.IGNORECASE), judge)


_ANNOUNCED = (
    Family(
        (
            "pass",
            "pwd",
            "pw",
            "kennw",
            "lösenord",
            "hasł",
            "haslo",
            "contrase",
            "wifi",
            "wi-fi",
            "wpa",
            "wlan",
            "pin",
            "puk",
            "tan",
            "code",
            "portkod",
        ),
        (
            _announced("password", _PASSWORD, _ASSIGNED, "assigned"),
            _announced("password", _PASSWORD, _TOLD, "secret_like"),
            _announced("password", _PASSWORD, _NEXT, "strong"),
            _announced("password", _PASS, "=", "assigned"),
            _announced("password", _PASS, _ASSIGNED, "mixed"),
            _announced("password", _PASS, _TOLD, "mixed"),
            _announced("password", _PASS, _NEXT, "strong"),
        ),
        before=len("zugangs"),
        opens=re.compile(f"{_PASSWORD}|{_PASS}", re.IGNORECASE),
    ),
    Family(
        # What such a word begins with: "key" itself would have every start of "Valkey" looked at.
        (
            *("api", "access", "auth", "refresh", "session", "bearer", "bot", "personal", "secret", "private"),
            *("signing", "encryption", "deploy", "licen", "account", "client", "token", "cred", "recovery", "backup"),
            *("nyckel", "klucz", "sekret", "webhook", "schlüssel", "geheimnis", "zugangs"),
        ),
        (
            _announced("secret", _KEY, _ASSIGNED, "token_like"),
            _announced("secret", _KEY, _TOLD, "token_like"),
            _announced("secret", _KEY, _NEXT, "token_like"),
            Pattern(
                "high_entropy",
                re.compile(_KEY + r"[^\n]{0,40}?(?<![\w/+.=-])(?P<secret>[A-Za-z0-9+/_=-]{24,255})", re.IGNORECASE),
                "random",
            ),
        ),
        opens=re.compile(_KEY, re.IGNORECASE),
    ),
    _family(
        "passphrase",
        ("passphrase", "phrase", "mnemonic"),
        r"\b(?:passphrase|(?:seed|recovery|secret) phrase|mnemonic)\b[^\n:=]{0,30}?(?:\bis\b|[:=])[ \t]{0,3}[\"'`]?"
        r"(?P<secret>[a-z]{3,12}(?:[ -][a-z]{3,12}){3,24})",
        judge="not_prose",
        before=len("recovery "),
    ),
    _family(
        "password",
        ("login", "cred", "zugang", "user", "logowani", "inlogg"),
        r"\b(?:login|logins|creds|credentials|zugangsdaten|zugang|user|inloggning|dane logowania)\b[^\n/|]{0,40}?"
        r"[\w.@-]{2,40}[ \t]{0,2}[/|:][ \t]{0,2}"
        r"(?P<secret>[^\s\"'`,;<>/]{6,128})",
        judge="strong",
        before=len("dane "),
    ),
    _family(
        "password",
        ("密码", "口令", "密碼", "密钥", "令牌", "パスワード", "暗証番号", "キー"),
        _CJK + r"[^\S\n]{0,3}(?:是|为|為|は|：|:|=)?[^\S\n]{0,3}(?P<secret>[!-~]{4,200})",
        judge="secret_like",
    ),
)

FAMILIES: tuple[Family, ...] = _TOKENS + _STRUCTURED + _ANNOUNCED
