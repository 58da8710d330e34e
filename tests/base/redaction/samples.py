"""Files with made-up secrets in them, put together when a test runs: no scanner finds one in this source.

``PLANTED`` has the kinds that services document, one each, and ``PROJECTS`` such files as people have. ``FRESH`` was
written after the rules; what it tells is whether they know more than what they were made for.
"""

import random
import string
from dataclasses import dataclass

LOWER, UPPER, DIGITS = string.ascii_lowercase, string.ascii_uppercase, string.digits
WORD = LOWER + UPPER + DIGITS
HEX = "0123456789abcdef"
URLSAFE = WORD + "-_"
B64 = WORD + "+/"
BASE32 = UPPER + "234567"
TYPED = WORD + "!#%*-_+="


@dataclass(frozen=True)
class Sample:
    """A file with one secret.

    ``shape`` makes the secret: pairs of a text and ``(alphabet, length)``; ``text`` has it at each ``@@``.
    """

    kind: str
    path: str
    text: str
    shape: tuple[str | tuple[str, int], ...]

    @property
    def value(self) -> str:
        """The secret, the same in each run."""
        source = random.Random(f"{self.kind} {self.path} {self.text}")
        pieces = [
            part if isinstance(part, str) else "".join(source.choices(part[0], k=part[1]))
            for part in self.shape
        ]
        return "".join(pieces)

    @property
    def content(self) -> str:
        """The file."""
        return self.text.replace("@@", self.value)


def pem(kind: str, source: str, *, lines: int = 12) -> str:
    """Return a private key block that is none."""
    rng = random.Random(source)
    body = "\n".join("".join(rng.choices(B64, k=64)) for _ in range(lines))
    name = f"{kind} " if kind else ""
    dashes = "-" * 5
    last = "".join(rng.choices(B64, k=22))
    return f"{dashes}BEGIN {name}PRIVATE KEY{dashes}\n{body}\n{last}==\n{dashes}END {name}PRIVATE KEY{dashes}\n"


PLANTED = (
    Sample("aws-access-key", "a.py", 'key = "@@"\n', ("AKIA", (BASE32, 16))),
    Sample(
        "aws-secret-key", "credentials", "[default]\naws_secret_access_key = @@\n", ((B64, 40),)
    ),
    Sample(
        "aws-session-token",
        "env.sh",
        "export AWS_SESSION_TOKEN=@@\n",
        ("IQoJb3JpZ2lu", (B64, 300), "=="),
    ),
    Sample(
        "github-classic",
        "a.sh",
        "git clone https://x:@@@github.com/a/b\n",
        ("gh", "p_", (WORD, 36)),
    ),
    Sample("github-app", "a.txt", "token: @@\n", ("gh", "s_", (WORD, 36))),
    Sample("github-fine", "a.yml", "pat: @@\n", ("github", "_pat_", (WORD, 22), "_", (WORD, 59))),
    Sample("gitlab", "ci.yml", "variables: {T: '@@'}\n", ("glp", "at-", (URLSAFE, 20))),
    Sample(
        "slack-bot",
        "bot.js",
        "const t = '@@';\n",
        ("xox", "b-", (DIGITS, 12), "-", (DIGITS, 12), "-", (WORD, 24)),
    ),
    Sample(
        "slack-webhook",
        "n.py",
        'URL = "https://hooks.slack.com/services/@@"\n',
        ("T", (UPPER + DIGITS, 8), "/B", (UPPER + DIGITS, 8), "/", (WORD, 24)),
    ),
    Sample("stripe", "pay.rb", "Stripe.api_key = '@@'\n", ("sk_", "live_", (WORD, 24))),
    Sample("stripe-webhook", "pay.go", 'h := "@@"\n', ("whs", "ec_", (WORD, 32))),
    Sample("openai-project", ".env", "OPENAI=@@\n", ("sk-", "proj-", (URLSAFE, 120))),
    Sample("openai-old", "n.ipynb", '"openai.api_key = \\"@@\\""\n', ("sk", "-", (WORD, 48))),
    Sample("anthropic", "a.ts", 'x = "@@"\n', ("sk-a", "nt-api03-", (URLSAFE, 93), "AA")),
    Sample(
        "google-api",
        "map.html",
        '<script src="https://m/js?key=@@"></script>\n',
        ("AI", "za", (URLSAFE, 35)),
    ),
    Sample("google-oauth", "c.json", '{"client_secret":"@@"}\n', ("GOC", "SPX-", (URLSAFE, 28))),
    Sample(
        "azure-storage",
        "app.config",
        "DefaultEndpointsProtocol=https;AccountName=a;AccountKey=@@;EndpointSuffix=core.windows.net\n",
        ((B64, 86), "=="),
    ),
    Sample("azure-secret", "a.tf", 'x = "@@"\n', ((WORD, 3), "8Q", "~", (URLSAFE, 34))),
    Sample("sendgrid", "mail.php", "$k = '@@';\n", ("S", "G.", (URLSAFE, 22), ".", (URLSAFE, 43))),
    Sample("twilio", "a.py", 'Client("@@", s)\n', ("S", "K", (HEX, 32))),
    Sample("npm", ".npmrc", "//registry.npmjs.org/:_authToken=@@\n", ("np", "m_", (WORD, 36))),
    Sample(
        "pypi",
        ".pypirc",
        "[pypi]\nusername = __token__\npassword = @@\n",
        ("pypi-", "AgEI", "cHlw", "aS5v", "cmc", (URLSAFE, 150)),
    ),
    Sample(
        "docker",
        "ci.sh",
        "echo @@ | docker login -u me --password-stdin\n",
        ("dckr", "_pat_", (URLSAFE, 27)),
    ),
    Sample("huggingface", "t.py", "login('@@')\n", ("h", "f_", (WORD, 34))),
    Sample("digitalocean", "a.tf", 'token = "@@"\n', ("dop", "_v1_", (HEX, 64))),
    Sample(
        "heroku",
        "a.sh",
        "HEROKU_API_KEY=@@ heroku ps\n",
        ((HEX, 8), "-", (HEX, 4), "-4", (HEX, 3), "-a", (HEX, 3), "-", (HEX, 12)),
    ),
    Sample("telegram", "bot.py", "bot = Bot('@@')\n", ((DIGITS[1:], 10), ":A", "A", (URLSAFE, 33))),
    Sample(
        "discord",
        "bot.py",
        "client.run('@@')\n",
        ("MT", (WORD, 24), ".", (URLSAFE, 6), ".", (URLSAFE, 38)),
    ),
    Sample(
        "jwt",
        "a.http",
        "Cookie: s=@@\n",
        ("ey", "JhbGciOiJIUzI1NiJ9.ey", "J", (URLSAFE, 60), ".", (URLSAFE, 43)),
    ),
    Sample("url-password", "a.yml", "db: postgres://app:@@@db:5432/app\n", ((WORD, 14),)),
    Sample("redis-password", "a.toml", 'url = "redis://:@@@cache:6379/0"\n', ((WORD, 20),)),
    Sample("age", "keys.txt", "@@\n", ("AGE-SEC", "RET-KEY-1", (UPPER + DIGITS, 58))),
    Sample("shopify", "a.rb", "T = '@@'\n", ("shp", "at_", (HEX, 32))),
    Sample("square", "a.js", "s('@@')\n", ("sq0", "atp-", (URLSAFE, 22))),
    Sample(
        "aws-console",
        "accessKeys.csv",
        "Access key ID,Secret access key\r\nAKIA" + "QX4BN7TZLM2WRD5K,@@\r\n",
        ((B64, 40),),
    ),
    Sample(
        "azure-devops",
        "a.ps1",
        "$h = '@@'\n",
        ((WORD, 52), "JQQJ99", (WORD, 18), "AZ", "DO", (WORD, 4)),
    ),
    Sample("azure-devops-named", "a.env", "AZURE_DEVOPS_EXT_PAT=@@\n", ((LOWER + DIGITS, 52),)),
    Sample(
        "langsmith", "a.py", 'client = Client("@@")\n', ("lsv2_", "pt_", (HEX, 32), "_", (HEX, 10))
    ),
    Sample("fly", "fly.sh", "export A='FlyV1 @@'\n", ("fm2", "_", (B64, 300), "=")),
    Sample("pinecone", "a.js", "new Pinecone('@@')\n", ("pc", "sk_", (WORD, 5), "_", (WORD, 63))),
    Sample("mailgun", "a.py", "auth=('api', '@@')\n", ("ke", "y-", (HEX, 32))),
    Sample("databricks", "a.cfg", "token = @@\n", ("da", "pi", (HEX, 32))),
    Sample("vault", "a.hcl", 'token = "@@"\n', ("hv", "s.", (WORD, 90))),
    Sample("linear", "a.ts", "new L('@@')\n", ("lin", "_api_", (WORD, 40))),
    Sample("notion", "a.ts", "new N('@@')\n", ("nt", "n_", (WORD, 46))),
    Sample("cloudflare", "a.env", "CLOUDFLARE_API_TOKEN=@@\n", ((URLSAFE, 40),)),
    Sample("datadog", "a.yaml", "datadog_api_key: @@\n", ((HEX, 32),)),
    Sample("new-relic", "a.yml", "k: @@\n", ("NR", "AK-", (UPPER + DIGITS, 27))),
    Sample(
        "atlassian",
        "a.py",
        "auth=(u, '@@')\n",
        ("ATA", "TT3", "xFf", "GF0", (URLSAFE, 180), "=", (HEX.upper(), 8)),
    ),
    Sample("okta", "a.js", "{token: 'SSWS @@'}\n", ("00", (URLSAFE, 40))),
    Sample("password", "a.py", 'password = "@@"\n', ((TYPED, 14),)),
    Sample("api-key", "a.yml", "api_key: @@\n", ((HEX, 40),)),
    Sample("bearer", "a.sh", "curl -H 'Authorization: Bearer @@' https://a\n", ((URLSAFE, 40),)),
)
"""Each has one secret of a kind that a service documents."""

PROJECTS = (
    Sample("dotenv", ".env", "DEBUG=1\nDB_HOST=db\nDB_PASSWORD=@@\nDB_PORT=5432\n", ((WORD, 16),)),
    Sample("dotenv-quoted", ".env.production", 'MAIL_PASSWORD="@@"\n', ((TYPED, 18),)),
    Sample("dotenv-export", "env.sh", "export PGPASSWORD='@@'\npsql -h db\n", ((WORD, 12),)),
    Sample("dotenv-jwt", ".env", "JWT_SECRET=@@\n", ((HEX, 64),)),
    Sample("dotenv-session", ".env.local", "NEXTAUTH_SECRET=@@\n", ((B64, 43), "=")),
    Sample(
        "compose-map",
        "docker-compose.yml",
        "environment:\n  POSTGRES_PASSWORD: @@\n",
        ((WORD, 20),),
    ),
    Sample(
        "compose-list",
        "docker-compose.yml",
        "environment:\n  - MYSQL_ROOT_PASSWORD=@@\n",
        ((TYPED, 16),),
    ),
    Sample("dockerfile-env", "Dockerfile", "FROM a\nENV API_TOKEN=@@\n", ((HEX, 32),)),
    Sample("dockerfile-space", "Dockerfile", "ENV REDIS_PASSWORD @@\n", ((WORD, 18),)),
    Sample("dockerfile-arg", "Dockerfile", 'ARG NPM_AUTH_TOKEN="@@"\n', ((WORD, 36),)),
    Sample(
        "k8s-data", "secret.yaml", "kind: Secret\ndata:\n  db-password: @@\n", ((B64, 30), "==")
    ),
    Sample("k8s-value", "deploy.yaml", "- name: API_SECRET\n  value: '@@'\n", ((WORD, 24),)),
    Sample("kubeconfig-token", "config", "users:\n- user:\n    token: @@\n", ((WORD, 40),)),
    Sample(
        "kubeconfig-key",
        "config",
        "    client-key-data: @@\n",
        ("LS0tLS1CRUdJTi", (B64, 400), "=="),
    ),
    Sample("helm", "values.yaml", "auth:\n  rootPassword: '@@'\n", ((TYPED, 15),)),
    Sample("ansible", "vars.yml", 'ansible_become_password: "@@"\n', ((TYPED, 13),)),
    Sample("terraform", "main.tf", '  master_password    = "@@"\n', ((WORD, 16),)),
    Sample("terraform-aws", "main.tf", 'provider "aws" {\n  secret_key = "@@"\n}\n', ((B64, 40),)),
    Sample("tfvars", "prod.tfvars", 'db_pass = "@@"\n', ((TYPED, 14),)),
    Sample("spring", "application.properties", "spring.datasource.password=@@\n", ((WORD, 14),)),
    Sample("spring-yaml", "application.yml", "  datasource:\n    password: @@\n", ((TYPED, 14),)),
    Sample("java", "A.java", 'private static final String API_KEY = "@@";\n', ((WORD, 32),)),
    Sample("kotlin", "A.kt", 'const val CLIENT_SECRET = "@@"\n', ((URLSAFE, 28),)),
    Sample("gradle", "gradle.properties", "signingPassword=@@\n", ((WORD, 12),)),
    Sample(
        "maven",
        "settings.xml",
        "<server><id>a</id><password>@@</password></server>\n",
        ((WORD, 16),),
    ),
    Sample("webconfig", "Web.config", '<add key="SmtpPassword" value="@@" />\n', ((WORD, 14),)),
    Sample(
        "ado", "appsettings.json", '"Default": "Server=db;User Id=sa;Password=@@;"\n', ((WORD, 14),)
    ),
    Sample("csharp", "A.cs", 'var clientSecret = "@@";\n', ((TYPED, 30),)),
    Sample("go", "a.go", 'const apiToken string = "@@"\n', ((HEX, 40),)),
    Sample("go-struct", "a.go", 'cfg := Config{Password: "@@"}\n', ((WORD, 15),)),
    Sample("rust", "a.rs", 'const API_TOKEN: &str = "@@";\n', ((WORD, 32),)),
    Sample("c", "a.h", '#define API_KEY "@@"\n', ((HEX, 32),)),
    Sample("js-object", "a.js", "auth: { user: 'me', pass: '@@' }\n", ((TYPED, 16),)),
    Sample("js-fallback", "a.js", "const secret = process.env.SECRET || '@@';\n", ((HEX, 48),)),
    Sample("ts", "a.ts", "private readonly apiKey: string = '@@';\n", ((WORD, 39),)),
    Sample(
        "jsx",
        "a.jsx",
        '<Map accessToken="@@" />\n',
        ("pk", ".ey", (URLSAFE, 60), ".", (URLSAFE, 22)),
    ),
    Sample("json", "config.json", '{"smtp": {"password": "@@"}}\n', ((TYPED, 16),)),
    Sample("json-camel", "config.json", '{"clientSecret":"@@"}\n', ((URLSAFE, 40),)),
    Sample("php-define", "wp-config.php", "define( 'DB_PASSWORD', '@@' );\n", ((TYPED, 20),)),
    Sample("php-array", "config.php", "'password' => '@@',\n", ((TYPED, 15),)),
    Sample(
        "wp-salt",
        "wp-config.php",
        "define('AUTH_KEY',         '@@');\n",
        ((WORD + "!#%*-_+=|,;:@^&", 64),),
    ),
    Sample("ruby", "a.rb", "config.secret_key_base = '@@'\n", ((HEX, 128),)),
    Sample("elixir", "config.exs", '  secret_key_base: "@@"\n', ((B64, 64),)),
    Sample(
        "django",
        "settings.py",
        "SECRET_KEY = 'django-insecure-@@'\n",
        ((LOWER + DIGITS + "!@#$%^&*(-_=+)", 50),),
    ),
    Sample("python-arg", "a.py", "connect(host='db', user='a', password='@@')\n", ((TYPED, 14),)),
    Sample("python-environ", "a.py", 'os.environ["API_KEY"] = "@@"\n', ((WORD, 32),)),
    Sample("python-get", "a.py", 'os.environ.get("AUTH_TOKEN", "@@")\n', ((WORD, 32),)),
    Sample("python-dict", "a.py", 'headers = {"X-Api-Key": "@@"}\n', ((WORD, 32),)),
    Sample("python-basic", "a.py", 'h = {"Authorization": "Basic @@"}\n', ((WORD, 34), "==")),
    Sample("powershell", "a.ps1", '$env:SQL_PASSWORD = "@@"\n', ((TYPED, 14),)),
    Sample("makefile", "Makefile", "TOKEN := @@\n", ((HEX, 40),)),
    Sample("curl-user", "a.sh", "curl -u admin:@@ https://a/b\n", ((WORD, 16),)),
    Sample("curl-header", "a.md", '    curl -H "X-Auth-Token: @@" https://a\n', ((HEX, 32),)),
    Sample("mysql", "backup.sh", "mysqldump -u root -p@@ shop\n", ((WORD, 14),)),
    Sample("option", "a.sh", "deploy --api-token @@ --env prod\n", ((HEX, 40),)),
    Sample("option-equals", "a.sh", "redis-cli --password=@@\n", ((WORD, 18),)),
    Sample("sql-identified", "init.sql", "CREATE USER app IDENTIFIED BY '@@';\n", ((TYPED, 14),)),
    Sample("sql-role", "init.sql", "ALTER ROLE app WITH PASSWORD '@@';\n", ((TYPED, 14),)),
    Sample("ini", "app.ini", "[smtp]\npasswd = @@\n", ((WORD, 14),)),
    Sample(
        "pip", "pip.conf", "index-url = https://deploy:@@@pypi.internal/simple\n", ((WORD, 20),)
    ),
    Sample(
        "git-credentials",
        ".git-credentials",
        "https://me:@@@git.internal\n",
        ("gh", "o_", (WORD, 36)),
    ),
    Sample("netrc", ".netrc", "machine a.internal login me password @@\n", ((TYPED, 14),)),
    Sample(
        "mongo",
        "a.js",
        "mongoose.connect('mongodb+srv://app:@@@c0.x.mongodb.net/a')\n",
        ((WORD, 16),),
    ),
    Sample("amqp", "a.py", 'BROKER_URL = "amqp://app:@@@mq:5672//"\n', ((WORD, 14),)),
    Sample("query", "access.log", "GET /v1/a?access_token=@@&x=1 200\n", ((WORD, 40),)),
    Sample("markdown", "README.md", "The staging password is `@@`.\n", ((TYPED, 16),)),
    Sample("markdown-table", "README.md", "| API key | `@@` |\n", ((HEX, 32),)),
    Sample("notebook", "a.ipynb", '"source": ["API_TOKEN = \'@@\'\\n"]\n', ((WORD, 36),)),
    Sample("groovy", "Jenkinsfile", "withEnv(['DEPLOY_TOKEN=@@']) {\n", ((WORD, 32),)),
    Sample("circle", "config.yml", "      SONAR_TOKEN: @@\n", ((HEX, 40),)),
    Sample("swift", "A.swift", 'let apiSecret = "@@"\n', ((WORD, 30),)),
    Sample("perl", "a.pl", "my $password = '@@';\n", ((TYPED, 14),)),
    Sample("lua", "a.lua", 'local secret = "@@"\n', ((WORD, 24),)),
    Sample("toml", "a.toml", 'secret-key = "@@"\n', ((URLSAFE, 43),)),
    Sample("nginx", "a.conf", 'proxy_set_header X-Api-Key "@@";\n', ((HEX, 32),)),
    Sample(
        "laravel",
        ".env",
        "APP_NAME=Shop\nAPP_KEY=@@\nAPP_DEBUG=false\n",
        ("base64:", (B64, 43), "="),
    ),
    Sample(
        "rails", "database.yml", "production:\n  username: shop\n  password: @@\n", ((WORD, 22),)
    ),
    Sample(
        "smtp",
        "application.yaml",
        "spring:\n  mail:\n    password: '@@'\n",
        ((LOWER, 4), " ", (LOWER, 4), " ", (LOWER, 4), " ", (LOWER, 4)),
    ),
    Sample("redis-conf", "redis.conf", "# security\nrequirepass @@\n", ((WORD, 32),)),
    Sample("postfix", "sasl_passwd", "[smtp.host.net]:587 me@host.net:@@\n", ((WORD, 16),)),
    Sample("pgpass", ".pgpass", "db.internal:5432:shop:app:@@\n", ((WORD, 16),)),
    Sample("s3cfg", ".s3cfg", "access_key = x\nsecret_key = @@\n", ((B64, 40),)),
    Sample("boto", "upload.py", "boto3.client('s3', aws_secret_access_key='@@')\n", ((B64, 40),)),
    Sample(
        "aws-js", "s3.ts", "credentials: { accessKeyId: id, secretAccessKey: '@@' }\n", ((B64, 40),)
    ),
    Sample("aws-id", "notes.md", "Use key @@ for the bucket.\n", ("AK", "IA", (BASE32, 16))),
    Sample("gha", ".github/workflows/a.yml", "env:\n  DEPLOY_KEY: @@\n", ((URLSAFE, 44),)),
    Sample(
        "gitlab-ci",
        ".gitlab-ci.yml",
        "  script:\n    - export SENTRY_AUTH_TOKEN=@@\n",
        ((HEX, 64),),
    ),
    Sample("travis", ".travis.yml", "    api_key: '@@'\n", ((URLSAFE, 40),)),
    Sample(
        "gcp-json",
        "sa.json",
        '{"type": "service_account", "private_key": "-----BEGIN @@"}\n',
        ("PRIVATE KEY", "-" * 5, "\\nMI", (B64, 60)),
    ),
    Sample(
        "github-url",
        "install.sh",
        "git remote add o https://@@@github.com/a/b.git\n",
        ("gh", "p_", (WORD, 36)),
    ),
    Sample(
        "github-header", "a.py", 'headers={"Authorization": "token @@"}\n', ("gh", "o_", (WORD, 36))
    ),
    Sample(
        "slack-user",
        "a.rb",
        'Slack.configure { |c| c.token = "@@" }\n',
        ("xox", "p-", (DIGITS, 11), "-", (DIGITS, 11), "-", (DIGITS, 12), "-", (HEX, 32)),
    ),
    Sample("stripe-test", "pay.py", "stripe.api_key = '@@'\n", ("sk_", "test_", (WORD, 99))),
    Sample("openai-svc", "app.py", "OpenAI(api_key='@@')\n", ("sk-", "svcacct-", (URLSAFE, 80))),
    Sample("openrouter", "a.sh", "export OPENROUTER_API_KEY=@@\n", ("sk-", "or-v1-", (HEX, 64))),
    Sample("deepseek", "config.toml", 'api_key = "@@"\n', ("sk", "-", (HEX, 32))),
    Sample(
        "anthropic",
        "docker-compose.yml",
        "      - ANTHROPIC_API_KEY=@@\n",
        ("sk-", "ant-api03-", (URLSAFE, 93), "AA"),
    ),
    Sample("groq", "a.js", "new Groq({ apiKey: '@@' })\n", ("gs", "k_", (WORD, 52))),
    Sample("firebase", "firebase.js", 'apiKey: "@@",\n', ("AIz", "aSy", (URLSAFE, 33))),
    Sample(
        "maps",
        "AndroidManifest.xml",
        '<meta-data android:name="geo" android:value="@@"/>\n',
        ("AIz", "aSy", (URLSAFE, 33)),
    ),
    Sample(
        "azure-conn",
        "local.settings.json",
        '"AzureWebJobsStorage": "AccountName=x;AccountKey=@@;Suffix=y"\n',
        ((B64, 86), "=="),
    ),
    Sample(
        "service-bus",
        "a.cs",
        '"Endpoint=sb://x/;SharedAccessKeyName=R;SharedAccessKey=@@"\n',
        ((B64, 43), "="),
    ),
    Sample("cosmos", "a.py", "CosmosClient(url, credential='@@')\n", ((B64, 86), "==")),
    Sample(
        "jdbc",
        "db.properties",
        "url=jdbc:mysql://db/shop?user=app&password=@@&useSSL=true\n",
        ((WORD, 14),),
    ),
    Sample(
        "sqlalchemy",
        "alembic.ini",
        "sqlalchemy.url = mysql+pymysql://app:@@@db/shop\n",
        ((WORD, 14),),
    ),
    Sample(
        "pg-dsn",
        "a.go",
        'sql.Open("postgres", "host=db user=app password=@@ sslmode=disable")\n',
        ((WORD, 14),),
    ),
    Sample(
        "celery",
        "settings.py",
        "CELERY_BROKER_URL = 'redis://:@@@cache:6379/1'\n",
        ((URLSAFE, 24),),
    ),
    Sample("rust-env", "main.rs", 'env::set_var("JWT_SECRET", "@@");\n', ((WORD, 40),)),
    Sample("node-jwt", "auth.js", "jwt.sign(payload, '@@', { expiresIn: '1h' })\n", ((HEX, 64),)),
    Sample(
        "express-session",
        "app.js",
        "app.use(session({ secret: '@@', resave: false }))\n",
        ((WORD, 24),),
    ),
    Sample("flask", "app.py", 'app.config["SECRET_KEY"] = "@@"\n', ((HEX, 48),)),
    Sample("flask-bytes", "app.py", "app.secret_key = b'@@'\n", ((TYPED, 20),)),
    Sample(
        "jwt",
        "test.http",
        "Authorization: Bearer @@\n",
        ("ey", "JhbGciOiJSUzI1NiJ9.ey", "J", (URLSAFE, 80), ".", (URLSAFE, 86)),
    ),
    Sample("android", "keystore.properties", "storePassword=@@\nkeyAlias=a\n", ((WORD, 14),)),
    Sample("nuget", "NuGet.config", '<add key="ClearTextPassword" value="@@" />\n', ((WORD, 18),)),
    Sample("xml-token", "config.xml", "<apiToken>@@</apiToken>\n", ((HEX, 34),)),
    Sample(
        "terraform-var",
        "variables.tf",
        'variable "db_password" {\n  default = "@@"\n}\n',
        ((TYPED, 16),),
    ),
    Sample("cloudformation", "stack.yml", "      MasterUserPassword: @@\n", ((WORD, 16),)),
    Sample("inventory", "hosts.ini", "web1 ansible_user=root ansible_ssh_pass=@@\n", ((WORD, 14),)),
    Sample("wifi", "config.h", '#define WIFI_PASSWORD "@@"\n', ((TYPED, 12),)),
    Sample("arduino", "main.ino", 'const char* password = "@@";\n', ((TYPED, 12),)),
    Sample("unity", "A.cs", 'PlayerSettings.Android.keystorePass = "@@";\n', ((WORD, 14),)),
    Sample("log", "debug.log", "2026-01-02 POST /login api_key=@@ 200\n", ((WORD, 32),)),
    Sample("har", "session.har", '{"name": "X-Api-Key", "value": "@@"}\n', ((HEX, 40),)),
    Sample(
        "postman",
        "env.json",
        '{"key": "api_token", "value": "@@", "enabled": true}\n',
        ((HEX, 40),),
    ),
    Sample("curl-data", "a.sh", "curl -d 'client_secret=@@' https://a/token\n", ((URLSAFE, 40),)),
    Sample("wget", "a.sh", "wget --user=me --password='@@' https://a/b\n", ((TYPED, 14),)),
    Sample(
        "mongo-shell",
        "init.js",
        "db.createUser({user: 'app', pwd: '@@', roles: []})\n",
        ((TYPED, 16),),
    ),
    Sample("ldap", "ldap.conf", "bindpw @@\n", ((WORD, 16),)),
    Sample("ldap-py", "a.py", "conn.simple_bind_s(dn, password='@@')\n", ((TYPED, 15),)),
    Sample(
        "docker-auth", "config.json", '{"auths": {"r.io": {"auth": "@@"}}}\n', ((WORD, 38), "==")
    ),
    Sample(
        "npmrc",
        ".npmrc",
        "//npm.internal/:_authToken=@@\n",
        ((HEX, 8), "-", (HEX, 4), "-4", (HEX, 3), "-a", (HEX, 3), "-", (HEX, 12)),
    ),
    Sample(
        "sentry-dsn", "a.py", "sentry_sdk.init('https://@@:x@sentry.internal/4')\n", ((HEX, 32),)
    ),
    Sample(
        "discord-hook",
        "a.sh",
        "curl https://discord.com/api/webhooks/@@\n",
        ((DIGITS[1:], 18), "/", (URLSAFE, 68)),
    ),
    Sample(
        "telegram",
        "config.yaml",
        'telegram:\n  token: "@@"\n',
        ((DIGITS[1:], 10), ":A", "A", (URLSAFE, 33)),
    ),
    Sample(
        "sendgrid", ".env", "SENDGRID_API_KEY=@@\n", ("S", "G.", (URLSAFE, 22), ".", (URLSAFE, 43))
    ),
    Sample("twilio-auth", "sms.py", "twilio_auth_token = '@@'\n", ((HEX, 32),)),
    Sample(
        "pypi",
        "publish.sh",
        "twine upload -u __token__ -p @@ dist/*\n",
        ("py", "pi-AgEIcHlwaS5vcmc", (URLSAFE, 150)),
    ),
    Sample(
        "sops-age",
        "key.txt",
        "# created: 2026\n@@\n",
        ("AGE-SEC", "RET-KEY-1", (UPPER + DIGITS, 58)),
    ),
    Sample("vault", "ci.yml", "      VAULT_TOKEN: @@\n", ("hv", "s.", (WORD, 90))),
    Sample("comment", "a.java", "// old password: @@\n", ((TYPED, 13),)),
    Sample("csv", "users.csv", "name,api_key\nme,@@\n", ((HEX, 32),)),
    Sample("readme-export", "README.md", "    $ export API_SECRET=@@\n", ((WORD, 28),)),
    Sample("kotlin", "A.kt", '.header("X-Auth-Token", "@@")\n', ((WORD, 32),)),
    Sample(
        "swift",
        "A.swift",
        'request.setValue("Bearer @@", forHTTPHeaderField: "Authorization")\n',
        ((URLSAFE, 48),),
    ),
    Sample("env-mailgun", ".env", "MAILGUN_API_KEY=@@\n", ("ke", "y-", (HEX, 32))),
    Sample(
        "env-database",
        ".env",
        "DATABASE_URL=postgresql://svc_user:@@@10.0.0.5:5432/orders\n",
        ((WORD, 18),),
    ),
    Sample(
        "env-s3", ".env.staging", "AWS_SECRET_ACCESS_KEY=@@\nAWS_REGION=eu-west-1\n", ((B64, 40),)
    ),
    Sample("env-quoted", ".env", "ADMIN_PASS='@@'\n", ((TYPED, 20),)),
    Sample("env-stripe", ".env", "STRIPE_SECRET=@@\n", ("rk_", "live_", (WORD, 40))),
    Sample("yaml-nested", "config.yml", "ldap:\n  bind_password: @@\n  port: 389\n", ((WORD, 16),)),
    Sample("yaml-flow", "ci.yml", "credentials: {user: bot, password: '@@'}\n", ((TYPED, 18),)),
    Sample("yaml-list", "stack.yml", "      - RABBITMQ_DEFAULT_PASS=@@\n", ((WORD, 24),)),
    Sample(
        "yaml-webhook",
        "alertmanager.yml",
        "  api_url: https://hooks.slack.com/services/@@\n",
        ("T", (UPPER + DIGITS, 10), "/B", (UPPER + DIGITS, 10), "/", (WORD, 24)),
    ),
    Sample(
        "yaml-grafana",
        "datasource.yml",
        "    secureJsonData:\n      token: @@\n",
        ("gl", "sa_", (WORD, 32), "_", (HEX, 8)),
    ),
    Sample(
        "json-firebase",
        "google-services.json",
        '"current_key": "@@"\n',
        ("AIz", "aSy", (URLSAFE, 33)),
    ),
    Sample(
        "json-token",
        "tokens.json",
        '{"access_token": "@@", "expires_in": 3599}\n',
        ("ya29", ".a0", (URLSAFE, 160)),
    ),
    Sample(
        "json-refresh", "tokens.json", '{"refresh_token": "@@"}\n', ("1/", "/0g", (URLSAFE, 60))
    ),
    Sample("json-appsettings", "appsettings.json", '"Jwt": {"SigningKey": "@@"}\n', ((B64, 44),)),
    Sample(
        "json-composer",
        "auth.json",
        '{"github-oauth": {"github.com": "@@"}}\n',
        ("gh", "p_", (WORD, 36)),
    ),
    Sample("json-vscode", "settings.json", '"sonarlint.connectedMode.token": "@@"\n', ((HEX, 40),)),
    Sample("toml-cargo", "credentials.toml", '[registry]\ntoken = "@@"\n', ("ci", "o", (WORD, 32))),
    Sample(
        "toml-poetry",
        "auth.toml",
        '[http-basic.corp]\nusername = "ci"\npassword = "@@"\n',
        ((TYPED, 22),),
    ),
    Sample("toml-streamlit", "secrets.toml", 'db_password = "@@"\n', ((WORD, 16),)),
    Sample(
        "py-openai",
        "chat.py",
        'openai.api_key = "@@"\n',
        ("sk", "-", (WORD, 20), "T3Blb", "kFJ", (WORD, 20)),
    ),
    Sample("py-hf", "train.py", 'HfApi(token="@@")\n', ("h", "f_", (WORD, 34))),
    Sample("py-requests", "a.py", "requests.get(url, auth=('svc', '@@'))\n", ((TYPED, 18),)),
    Sample(
        "py-paramiko",
        "a.py",
        "client.connect(host, username='ops', password='@@')\n",
        ((WORD, 16),),
    ),
    Sample("py-fernet", "a.py", "ENCRYPTION_KEY = b'@@'\n", ((URLSAFE, 43), "=")),
    Sample("py-default", "a.py", "def connect(host, password='@@'):\n", ((TYPED, 15),)),
    Sample(
        "py-telegram",
        "a.py",
        'requests.post("https://api.telegram.org/bot@@/sendMessage")\n',
        ((DIGITS[1:], 10), ":A", "A", (URLSAFE, 33)),
    ),
    Sample(
        "js-mongo",
        "db.js",
        "const uri = 'mongodb://root:@@@localhost:27017/admin'\n",
        ((WORD, 20),),
    ),
    Sample("js-config", "config.js", "module.exports = { jwtSecret: '@@' }\n", ((HEX, 32),)),
    Sample("js-env", "a.js", "process.env.API_KEY = '@@'\n", ((WORD, 30),)),
    Sample(
        "js-cookie",
        "a.js",
        "app.use(cookieSession({ keys: ['k'], secret: '@@' }))\n",
        ((TYPED, 24),),
    ),
    Sample(
        "ts-supabase",
        "client.ts",
        "createClient(url, '@@')\n",
        ("ey", "JhbGciOiJIUzI1NiJ9.ey", "J", (URLSAFE, 120), ".", (URLSAFE, 43)),
    ),
    Sample(
        "ts-anthropic",
        "a.ts",
        "new Anthropic({ apiKey: '@@' })\n",
        ("sk-", "ant-api03-", (URLSAFE, 93), "AA"),
    ),
    Sample("tf-rds", "rds.tf", '  password = "@@"\n  username = "app"\n', ((TYPED, 18),)),
    Sample(
        "tf-do",
        "provider.tf",
        'provider "digitalocean" {\n  token = "@@"\n}\n',
        ("dop", "_v1_", (HEX, 64)),
    ),
    Sample(
        "tf-datadog", "provider.tf", 'provider "datadog" {\n  api_key = "@@"\n}\n', ((HEX, 32),)
    ),
    Sample("sh-export", "deploy.sh", "export GITLAB_TOKEN=@@\n", ("glp", "at-", (URLSAFE, 20))),
    Sample(
        "sh-docker",
        "deploy.sh",
        "docker login -u ci -p @@ registry.corp\n",
        ("dckr", "_pat_", (URLSAFE, 27)),
    ),
    Sample("sh-psql", "backup.sh", "PGPASSWORD=@@ pg_dump -h db shop\n", ((WORD, 16),)),
    Sample(
        "sh-curl", "a.sh", 'curl -H "PRIVATE-TOKEN: @@" https://git.corp/api\n', ((URLSAFE, 20),)
    ),
    Sample("sh-htpasswd", "setup.sh", "htpasswd -bc .htpasswd admin @@\n", ((WORD, 16),)),
    Sample("sh-ldap", "a.sh", "ldapsearch -D cn=admin -w @@ -b dc=x\n", ((WORD, 16),)),
    Sample("ini-mysql", "my.cnf", "[client]\nuser=root\npassword=@@\n", ((TYPED, 16),)),
    Sample("ini-airflow", "airflow.cfg", "fernet_key = @@\n", ((URLSAFE, 43), "=")),
    Sample("ini-odoo", "odoo.conf", "admin_passwd = @@\n", ((WORD, 18),)),
    Sample("md-prose", "RUNBOOK.md", "Login as admin, password: @@\n", ((TYPED, 14),)),
    Sample("md-aws", "NOTES.md", "- key id: @@\n", ("AK", "IA", (BASE32, 16))),
    Sample("docker-env", "Dockerfile", 'ENV SECRET_KEY_BASE="@@"\n', ((HEX, 128),)),
    Sample(
        "docker-arg",
        "Dockerfile",
        "ARG GITHUB_TOKEN=@@\n",
        ("github", "_pat_", (WORD, 22), "_", (WORD, 59)),
    ),
    Sample("xml-maven", "settings.xml", "    <passphrase>@@</passphrase>\n", ((TYPED[:62], 18),)),
    Sample(
        "xml-hibernate",
        "hibernate.cfg.xml",
        '<property name="hibernate.connection.password">@@</property>\n',
        ((WORD, 16),),
    ),
    Sample(
        "xml-tomcat", "server.xml", '<Connector keystorePass="@@" port="8443"/>\n', ((WORD, 16),)
    ),
    Sample(
        "properties-kafka",
        "kafka.properties",
        'sasl.jaas.config=x required username="a" password="@@";\n',
        ((WORD, 20),),
    ),
    Sample("properties-ssl", "app.properties", "server.ssl.key-store-password=@@\n", ((WORD, 16),)),
    Sample(
        "java-jdbc", "Db.java", 'DriverManager.getConnection(url, "app", "@@");\n', ((WORD, 18),)
    ),
    Sample("java-set", "A.java", 'ds.setPassword("@@");\n', ((TYPED, 16),)),
    Sample("cs-conn", "A.cs", '"Data Source=db;User ID=sa;Pwd=@@;Encrypt=True"\n', ((WORD, 16),)),
    Sample("go-struct", "main.go", '\tSecretAccessKey: "@@",\n', ((B64, 40),)),
    Sample("go-basic", "main.go", 'req.SetBasicAuth("ci", "@@")\n', ((WORD, 20),)),
    Sample("rb-devise", "devise.rb", "  config.pepper = '@@'\n", ((HEX, 128),)),
    Sample("rb-twilio", "sms.rb", "Twilio::REST::Client.new('@@', t)\n", ("S", "K", (HEX, 32))),
    Sample("php-pdo", "db.php", "$pdo = new PDO($dsn, 'app', '@@');\n", ((TYPED, 18),)),
    Sample(
        "php-laravel",
        "services.php",
        "'secret' => env('STRIPE_SECRET', '@@'),\n",
        ("sk_", "test_", (WORD, 99)),
    ),
    Sample("sql-user", "seed.sql", "CREATE USER 'app'@'%' IDENTIFIED BY '@@';\n", ((TYPED, 16),)),
    Sample(
        "vue",
        "Map.vue",
        "mapboxgl.accessToken = '@@'\n",
        ("pk", ".ey", "J", (URLSAFE, 60), ".", (URLSAFE, 22)),
    ),
    Sample("http-cookie", "a.http", "X-Vault-Token: @@\n", ("hv", "s.", (WORD, 90))),
    Sample("gradle-sign", "build.gradle.kts", 'storePassword = "@@"\n', ((WORD, 16),)),
    Sample(
        "jenkins",
        "Jenkinsfile",
        "sh 'npm config set //registry/:_authToken @@'\n",
        ("np", "m_", (WORD, 36)),
    ),
    Sample(
        "pip-extra",
        "requirements.txt",
        "--extra-index-url https://ci:@@@pypi.corp/simple\n",
        ((WORD, 24),),
    ),
    Sample(
        "git-config",
        ".git/config",
        "\turl = https://oauth2:@@@gitlab.com/a/b.git\n",
        ("glp", "at-", (URLSAFE, 20)),
    ),
    Sample(
        "ssh-config",
        "id_backup",
        "-----BEGIN @@\n",
        ("OPENSSH PRIVATE KEY", "-" * 5, "\n", (B64, 70), "\n", (B64, 70)),
    ),
)
"""Each is as it may stand in a project."""

FRESH = (
    Sample("env-pusher", ".env", "PUSHER_APP_SECRET=@@\n", ((HEX, 20),)),
    Sample("env-algolia", ".env", "ALGOLIA_ADMIN_API_KEY=@@\n", ((HEX, 32),)),
    Sample("env-auth0", ".env", "AUTH0_CLIENT_SECRET=@@\n", ((URLSAFE, 64),)),
    Sample("env-redis", ".env", "REDIS_URL=rediss://default:@@@eu1.cache.io:6380\n", ((WORD, 32),)),
    Sample("env-smtp", ".env.example.local", "SMTP_PASS=@@\nSMTP_PORT=587\n", ((TYPED, 16),)),
    Sample("env-hmac", "prod.env", "HMAC_KEY=@@\n", ((HEX, 64),)),
    Sample("env-xai", ".env", "XAI_API_KEY=@@\n", ("xa", "i-", (WORD, 80))),
    Sample("env-newrelic", ".env", "NEW_RELIC_LICENSE_KEY=@@\n", ((HEX, 36), "NR", "AL")),
    Sample(
        "env-cloud",
        ".env",
        "CLOUDINARY_URL=cloudinary://384729184756123:@@@shop\n",
        ((URLSAFE, 27),),
    ),
    Sample("compose", "compose.yaml", "      MARIADB_PASSWORD: '@@'\n", ((TYPED, 18),)),
    Sample(
        "compose-cmd", "compose.yaml", "    command: redis-server --requirepass @@\n", ((WORD, 20),)
    ),
    Sample(
        "helm",
        "values-prod.yaml",
        "postgresql:\n  auth:\n    postgresPassword: @@\n",
        ((WORD, 18),),
    ),
    Sample("k8s-string", "secret.yml", 'stringData:\n  api-token: "@@"\n', ((WORD, 40),)),
    Sample(
        "k8s-pull",
        "pull.yml",
        '  .dockerconfigjson: {"auths":{"r":{"password":"@@"}}}\n',
        ((WORD, 22),),
    ),
    Sample("gha-input", "deploy.yml", "        with:\n          api-key: @@\n", ((HEX, 40),)),
    Sample("ansible-vault", "group_vars/all.yml", "vault_db_password: '@@'\n", ((TYPED, 20),)),
    Sample("salt", "pillar.sls", "mysql:\n  root_password: @@\n", ((WORD, 16),)),
    Sample(
        "tf-github", "main.tf", 'provider "github" {\n  token = "@@"\n}\n', ("gh", "p_", (WORD, 36))
    ),
    Sample("tf-secret", "main.tf", '  secret_string = "@@"\n', ((TYPED, 24),)),
    Sample(
        "tf-azure", "main.tf", '  client_secret   = "@@"\n', ((WORD, 3), "8Q", "~", (URLSAFE, 34))
    ),
    Sample(
        "json-package",
        "config.json",
        '{"mailer": {"apiKey": "@@"}}\n',
        ("S", "G.", (URLSAFE, 22), ".", (URLSAFE, 43)),
    ),
    Sample(
        "json-jwt",
        "seed.json",
        '{"id_token": "@@"}\n',
        ("ey", "JhbGciOiJSUzI1NiJ9.ey", "J", (URLSAFE, 90), ".", (URLSAFE, 86)),
    ),
    Sample(
        "json-discord",
        "bot.json",
        '{"prefix": "!", "token": "@@"}\n',
        ("MT", (WORD, 24), ".", (URLSAFE, 6), ".", (URLSAFE, 38)),
    ),
    Sample(
        "json-service",
        "sa.json",
        '{"private_key": "-----BEGIN @@-----END PRIVATE KEY-----\\n"}\n',
        ("PRIVATE KEY", "-" * 5, "\\n", (B64, 64), "\\n", (B64, 64), "\\n"),
    ),
    Sample("json-azure", "parameters.json", '"adminPassword": { "value": "@@" }\n', ((TYPED, 18),)),
    Sample("toml-netlify", "netlify.toml", '  AUTH_TOKEN = "@@"\n', ((URLSAFE, 43),)),
    Sample("toml-wrangler", "wrangler.toml", '[vars]\nJWT_SECRET = "@@"\n', ((WORD, 32),)),
    Sample("py-boto", "s3.py", "ACCESS = '@@'\n", ("AK", "IA", (BASE32, 16))),
    Sample(
        "py-session",
        "s3.py",
        'Session(aws_access_key_id=i, aws_secret_access_key="@@")\n',
        ((B64, 40),),
    ),
    Sample(
        "py-slack",
        "bot.py",
        'WebClient(token="@@")\n',
        ("xox", "b-", (DIGITS, 13), "-", (DIGITS, 13), "-", (WORD, 24)),
    ),
    Sample(
        "py-engine",
        "db.py",
        'create_engine("postgresql+psycopg2://etl:@@@warehouse/dw")\n',
        ((TYPED[:62], 16),),
    ),
    Sample(
        "py-getenv", "settings.py", 'DB_PASSWORD = os.getenv("DB_PASSWORD", "@@")\n', ((WORD, 16),)
    ),
    Sample("py-dict", "settings.py", "    'PASSWORD': '@@',\n", ((TYPED, 16),)),
    Sample("py-smtp", "mail.py", "server.login('me@corp.com', '@@')\n", ((TYPED, 16),)),
    Sample("js-header", "api.js", "headers: { 'x-api-key': '@@' }\n", ((WORD, 40),)),
    Sample(
        "js-axios", "api.js", "axios.defaults.headers.Authorization = 'Bearer @@'\n", ((WORD, 48),)
    ),
    Sample(
        "js-mysql", "db.js", "mysql.createPool({ user: 'app', password: '@@' })\n", ((TYPED, 16),)
    ),
    Sample("ts-nest", "auth.module.ts", "JwtModule.register({ secret: '@@' })\n", ((WORD, 32),)),
    Sample("ts-twilio", "sms.ts", "const authToken = '@@'\n", ((HEX, 32),)),
    Sample("java-const", "Keys.java", 'static final String SECRET_KEY = "@@";\n', ((B64, 40),)),
    Sample("java-spring", "application-prod.properties", "jwt.secret=@@\n", ((B64, 44),)),
    Sample(
        "kt-buildconfig",
        "build.gradle",
        'buildConfigField "String", "API_KEY", "@@"\n',
        ((WORD, 32),),
    ),
    Sample(
        "swift-plist",
        "Info.plist",
        "<key>APIKey</key><string>@@</string>\n",
        ("AIz", "aSy", (URLSAFE, 33)),
    ),
    Sample("go-const", "main.go", 'const jwtSecret = "@@"\n', ((WORD, 32),)),
    Sample(
        "go-dsn", "main.go", 'dsn := "app:@@@tcp(db:3306)/shop?parseTime=true"\n', ((WORD, 16),)
    ),
    Sample("rs-const", "main.rs", 'let password = "@@";\n', ((TYPED, 16),)),
    Sample("rb-yml", "secrets.yml", "  secret_key_base: @@\n", ((HEX, 128),)),
    Sample("rb-aws", "aws.rb", "Aws::Credentials.new('@@', s)\n", ("AK", "IA", (BASE32, 16))),
    Sample(
        "php-wp",
        "wp-config.php",
        "define('SECURE_AUTH_KEY', '@@');\n",
        ((WORD + "!#%*-_+=|:@^", 64),),
    ),
    Sample(
        "php-mysqli", "db.php", "new mysqli('localhost', 'app', '@@', 'shop');\n", ((TYPED, 16),)
    ),
    Sample(
        "cs-secret", "Startup.cs", 'options.ClientSecret = "@@";\n', ("GOC", "SPX-", (URLSAFE, 28))
    ),
    Sample(
        "ps-secure", "a.ps1", 'ConvertTo-SecureString "@@" -AsPlainText -Force\n', ((TYPED, 18),)
    ),
    Sample("sh-token", "release.sh", 'TOKEN="@@"\n', ("gh", "s_", (WORD, 36))),
    Sample("sh-sudo", "a.sh", "echo '@@' | sudo -S apt update\n", ((TYPED, 14),)),
    Sample("sh-aws", "a.sh", "aws configure set aws_secret_access_key @@\n", ((B64, 40),)),
    Sample("sh-curl-basic", "a.sh", 'curl --user "svc:@@" https://jira.corp\n', ((WORD, 24),)),
    Sample("bat", "a.bat", "set DB_PASSWORD=@@\r\n", ((WORD, 16),)),
    Sample("cnf", "replica.cnf", "MASTER_PASSWORD='@@',\n", ((TYPED, 18),)),
    Sample("odbc", "odbc.ini", "UID=app\nPWD=@@\n", ((WORD, 16),)),
    Sample(
        "nginx", "nginx.conf", 'proxy_set_header Authorization "Basic @@";\n', ((WORD, 38), "==")
    ),
    Sample("wg", "wg0.conf", "[Interface]\nPrivateKey = @@\n", ((B64, 43), "=")),
    Sample("wpa", "wpa_supplicant.conf", '  psk="@@"\n', ((TYPED, 16),)),
    Sample("md-table", "README.md", "| DB password | `@@` |\n", ((TYPED, 16),)),
    Sample(
        "md-code", "docs/setup.md", "`export OPENAI_API_KEY=@@`\n", ("sk-", "proj-", (URLSAFE, 120))
    ),
    Sample(
        "md-url",
        "README.md",
        "Webhook: https://hooks.slack.com/services/@@\n",
        ("T", (UPPER + DIGITS, 8), "/B", (UPPER + DIGITS, 8), "/", (WORD, 24)),
    ),
    Sample(
        "ipynb", "a.ipynb", '"os.environ[\\"HF_TOKEN\\"] = \\"@@\\"\\n",\n', ("h", "f_", (WORD, 34))
    ),
    Sample("log", "app.log", "INFO connecting with password=@@ to db\n", ((TYPED[:62], 16),)),
    Sample(
        "log-bearer",
        "app.log",
        "> Authorization: Bearer @@\n",
        ("ey", "JhbGciOiJIUzI1NiJ9.ey", "J", (URLSAFE, 60), ".", (URLSAFE, 43)),
    ),
    Sample(
        "xml-ssis",
        "conn.xml",
        "<ConnectionString>Server=db;Uid=sa;Pwd=@@;</ConnectionString>\n",
        ((WORD, 16),),
    ),
    Sample(
        "pem-ec",
        "tls.key",
        "-----BEGIN @@-----END EC PRIVATE KEY-----\n",
        ("EC PRIVATE KEY", "-" * 5, "\n", (B64, 64), "\n", (B64, 64), "\n", (B64, 32), "\n"),
    ),
)
"""Written after the last change of the rules, which were then not made to fit."""
