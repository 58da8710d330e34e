"""Files with made-up secrets, assembled at run time: no scanner finds one in this source.

``PLANTED`` has the kinds that services document, one each, ``RARE`` those that nothing else here shows, and
``PROJECTS`` such files as people have. ``FRESH`` was written after the rules, which were then not made to fit; what it
tells is whether they know more than what they were made for.
"""

import hashlib
import random
import string
from dataclasses import dataclass

_WORD = string.ascii_letters + string.digits
_ALPHABETS = {
    "SIGNS": _WORD + "!#%*-_+=|,;:@^&",
    "UHEX": "0123456789ABCDEF",
    "SMALL": string.ascii_lowercase + string.digits,
    "DJANGO": string.ascii_lowercase + string.digits + "!@#$%^&*(-_=+)",
    "DIGITS": string.digits,
    "NUMBER": "123456789",
    "HEX": "0123456789abcdef",
    "SERIAL": string.ascii_uppercase + string.digits,
    "BASE32": string.ascii_uppercase + "234567",
    "LOWER": string.ascii_lowercase,
    "WORD": _WORD,
    "URLSAFE": _WORD + "-_",
    "B64": _WORD + "+/",
    "TYPED": _WORD + "!#%*-_+=",
    "SALT": _WORD + "!#%*-_+=|:@^",
}


@dataclass(frozen=True)
class Sample:
    """A file with a secret at each ``@@`` of its text, the same in each run."""

    kind: str
    path: str
    text: str
    shape: str
    """What makes the secret: texts, and so many letters of an alphabet, with blanks between them."""

    @property
    def value(self) -> str:
        source = random.Random(f"{self.kind} {self.path} {self.text}")
        pieces = [part.rpartition("*") for part in self.shape.split()]
        return "".join(
            "".join(source.choices(_ALPHABETS[name], k=int(last)))
            if name in _ALPHABETS
            else last.encode().decode("unicode_escape")
            for name, _, last in pieces
        )

    @property
    def content(self) -> str:
        return self.text.replace("@@", self.value)


def pem(kind: str, source: str, *, lines: int = 12) -> str:
    rng = random.Random(source)
    letters = _ALPHABETS["B64"]
    body = "\n".join("".join(rng.choices(letters, k=64)) for _ in range(lines))
    name = f"{kind} " if kind else ""
    dashes = "-" * 5
    last = "".join(rng.choices(letters, k=22))
    return f"{dashes}BEGIN {name}PRIVATE KEY{dashes}\n{body}\n{last}==\n{dashes}END {name}PRIVATE KEY{dashes}\n"


def _samples(table: str) -> tuple[Sample, ...]:
    rows = [line.split(" ¦ ") for line in table.strip().split("\n")]
    return tuple(
        Sample(kind, path, text.encode().decode("unicode_escape"), shape)
        for kind, path, text, shape in rows
    )


PLANTED = _samples(r"""
aws-access-key ¦ a.py ¦ key = "@@"\n ¦ AKIA BASE32*16
aws-secret-key ¦ credentials ¦ [default]\naws_secret_access_key = @@\n ¦ B64*40
aws-session-token ¦ env.sh ¦ export AWS_SESSION_TOKEN=@@\n ¦ IQoJb3JpZ2lu B64*300 ==
github-classic ¦ a.sh ¦ git clone https://x:@@@github.com/a/b\n ¦ gh p_ WORD*36
github-app ¦ a.txt ¦ token: @@\n ¦ gh s_ WORD*36
github-fine ¦ a.yml ¦ pat: @@\n ¦ github _pat_ WORD*22 _ WORD*59
gitlab ¦ ci.yml ¦ variables: {T: '@@'}\n ¦ glp at- URLSAFE*20
slack-bot ¦ bot.js ¦ const t = '@@';\n ¦ xox b- DIGITS*12 - DIGITS*12 - WORD*24
slack-webhook ¦ n.py ¦ URL = "https://hooks.slack.com/services/@@"\n ¦ T SERIAL*8 /B SERIAL*8 / WORD*24
stripe ¦ pay.rb ¦ Stripe.api_key = '@@'\n ¦ sk_ live_ WORD*24
stripe-webhook ¦ pay.go ¦ h := "@@"\n ¦ whs ec_ WORD*32
openai-project ¦ .env ¦ OPENAI=@@\n ¦ sk- proj- URLSAFE*120
openai-old ¦ n.ipynb ¦ "openai.api_key = \\"@@\\""\n ¦ sk - WORD*48
anthropic ¦ a.ts ¦ x = "@@"\n ¦ sk-a nt-api03- URLSAFE*93 AA
google-api ¦ map.html ¦ <script src="https://m/js?key=@@"></script>\n ¦ AI za URLSAFE*35
google-oauth ¦ c.json ¦ {"client_secret":"@@"}\n ¦ GOC SPX- URLSAFE*28
azure-storage ¦ app.config ¦ DefaultEndpointsProtocol=https;AccountName=a;AccountKey=@@;EndpointSuffix=core.windows.net\n ¦ B64*86 ==
azure-secret ¦ a.tf ¦ x = "@@"\n ¦ WORD*3 8Q ~ URLSAFE*34
sendgrid ¦ mail.php ¦ $k = '@@';\n ¦ S G. URLSAFE*22 . URLSAFE*43
twilio ¦ a.py ¦ Client("@@", s)\n ¦ S K HEX*32
npm ¦ .npmrc ¦ //registry.npmjs.org/:_authToken=@@\n ¦ np m_ WORD*36
pypi ¦ .pypirc ¦ [pypi]\nusername = __token__\npassword = @@\n ¦ pypi- AgEI cHlw aS5v cmc URLSAFE*150
docker ¦ ci.sh ¦ echo @@ | docker login -u me --password-stdin\n ¦ dckr _pat_ URLSAFE*27
huggingface ¦ t.py ¦ login('@@')\n ¦ h f_ WORD*34
digitalocean ¦ a.tf ¦ token = "@@"\n ¦ dop _v1_ HEX*64
heroku ¦ a.sh ¦ HEROKU_API_KEY=@@ heroku ps\n ¦ HEX*8 - HEX*4 -4 HEX*3 -a HEX*3 - HEX*12
telegram ¦ bot.py ¦ bot = Bot('@@')\n ¦ NUMBER*10 :A A URLSAFE*33
discord ¦ bot.py ¦ client.run('@@')\n ¦ MT WORD*24 . URLSAFE*6 . URLSAFE*38
jwt ¦ a.http ¦ Cookie: s=@@\n ¦ ey JhbGciOiJIUzI1NiJ9.ey J URLSAFE*60 . URLSAFE*43
url-password ¦ a.yml ¦ db: postgres://app:@@@db:5432/app\n ¦ WORD*14
redis-password ¦ a.toml ¦ url = "redis://:@@@cache:6379/0"\n ¦ WORD*20
age ¦ keys.txt ¦ @@\n ¦ AGE-SEC RET-KEY-1 SERIAL*58
shopify ¦ a.rb ¦ T = '@@'\n ¦ shp at_ HEX*32
square ¦ a.js ¦ s('@@')\n ¦ sq0 atp- URLSAFE*22
aws-console ¦ accessKeys.csv ¦ Access key ID,Secret access key\r\nAKIAQX4BN7TZLM2WRD5K,@@\r\n ¦ B64*40
azure-devops ¦ a.ps1 ¦ $h = '@@'\n ¦ WORD*52 JQQJ99 WORD*18 AZ DO WORD*4
azure-devops-named ¦ a.env ¦ AZURE_DEVOPS_EXT_PAT=@@\n ¦ SMALL*52
langsmith ¦ a.py ¦ client = Client("@@")\n ¦ lsv2_ pt_ HEX*32 _ HEX*10
fly ¦ fly.sh ¦ export A='FlyV1 @@'\n ¦ fm2 _ B64*300 =
pinecone ¦ a.js ¦ new Pinecone('@@')\n ¦ pc sk_ WORD*5 _ WORD*63
mailgun ¦ a.py ¦ auth=('api', '@@')\n ¦ ke y- HEX*32
databricks ¦ a.cfg ¦ token = @@\n ¦ da pi HEX*32
vault ¦ a.hcl ¦ token = "@@"\n ¦ hv s. WORD*90
linear ¦ a.ts ¦ new L('@@')\n ¦ lin _api_ WORD*40
notion ¦ a.ts ¦ new N('@@')\n ¦ nt n_ WORD*46
cloudflare ¦ a.env ¦ CLOUDFLARE_API_TOKEN=@@\n ¦ URLSAFE*40
datadog ¦ a.yaml ¦ datadog_api_key: @@\n ¦ HEX*32
new-relic ¦ a.yml ¦ k: @@\n ¦ NR AK- SERIAL*27
atlassian ¦ a.py ¦ auth=(u, '@@')\n ¦ ATA TT3 xFf GF0 URLSAFE*180 = UHEX*8
okta ¦ a.js ¦ {token: 'SSWS @@'}\n ¦ 00 URLSAFE*40
password ¦ a.py ¦ password = "@@"\n ¦ TYPED*14
api-key ¦ a.yml ¦ api_key: @@\n ¦ HEX*40
bearer ¦ a.sh ¦ curl -H 'Authorization: Bearer @@' https://a\n ¦ URLSAFE*40
""")
RARE = _samples(r"""
bedrock ¦ a.py ¦ key = "@@" ¦ ABSK B64*100
azure-sas ¦ a.sh ¦ https://shop.blob.core.windows.net/a?sv=2023-01-03&sig=@@ ¦ B64*43 %3D
alibaba ¦ a.sh ¦ ossutil config -i @@ ¦ LTAI 5t WORD*18
terraform ¦ a.sh ¦ login @@ ¦ WORD*14 .atlas v1. WORD*67
pulumi ¦ a.sh ¦ login @@ ¦ pul - HEX*40
doppler ¦ a.sh ¦ login @@ ¦ dp .pt. WORD*43
planetscale ¦ a.sh ¦ login @@ ¦ pscale_ pw_ WORD*43
supabase ¦ a.sh ¦ login @@ ¦ sbp _ HEX*40
rubygems ¦ a.sh ¦ login @@ ¦ rubygems _ HEX*48
nuget ¦ a.sh ¦ push @@ ¦ oy2 k9x q2m 4a7 HEX*34
artifactory ¦ a.sh ¦ push @@ ¦ AKCp WORD*69
figma ¦ a.sh ¦ login @@ ¦ figd _ WORD*40
airtable ¦ a.sh ¦ login @@ ¦ pat WORD*14 . HEX*64
postman ¦ a.sh ¦ login @@ ¦ PMAK - HEX*24 - HEX*34
teams ¦ a.sh ¦ curl https://acme.webhook.office.com/webhookb2/@@ ¦ HEX*8 -1b3d-4e5f-9a7b- HEX*12 /IncomingWebhook/ HEX*40
mailchimp ¦ a.sh ¦ send @@ ¦ HEX*32 -us 14
brevo ¦ a.sh ¦ send @@ ¦ xkeysib - HEX*64 - WORD*16
facebook ¦ a.sh ¦ post @@ ¦ EAAC WORD*98
dropbox ¦ a.sh ¦ put @@ ¦ sl . WORD*136
sentry ¦ a.sh ¦ send @@ ¦ sntryu _ HEX*64
posthog ¦ a.sh ¦ send @@ ¦ phx _ WORD*43
option ¦ a.sh ¦ mysqldump --password @@ shop ¦ WORD*12
""")
PROJECTS = _samples(r"""
dotenv ¦ .env ¦ DEBUG=1\nDB_HOST=db\nDB_PASSWORD=@@\nDB_PORT=5432\n ¦ WORD*16
dotenv-quoted ¦ .env.production ¦ MAIL_PASSWORD="@@"\n ¦ TYPED*18
dotenv-export ¦ env.sh ¦ export PGPASSWORD='@@'\npsql -h db\n ¦ WORD*12
dotenv-jwt ¦ .env ¦ JWT_SECRET=@@\n ¦ HEX*64
dotenv-session ¦ .env.local ¦ NEXTAUTH_SECRET=@@\n ¦ B64*43 =
compose-map ¦ docker-compose.yml ¦ environment:\n  POSTGRES_PASSWORD: @@\n ¦ WORD*20
compose-list ¦ docker-compose.yml ¦ environment:\n  - MYSQL_ROOT_PASSWORD=@@\n ¦ TYPED*16
dockerfile-env ¦ Dockerfile ¦ FROM a\nENV API_TOKEN=@@\n ¦ HEX*32
dockerfile-space ¦ Dockerfile ¦ ENV REDIS_PASSWORD @@\n ¦ WORD*18
dockerfile-arg ¦ Dockerfile ¦ ARG NPM_AUTH_TOKEN="@@"\n ¦ WORD*36
k8s-data ¦ secret.yaml ¦ kind: Secret\ndata:\n  db-password: @@\n ¦ B64*30 ==
k8s-value ¦ deploy.yaml ¦ - name: API_SECRET\n  value: '@@'\n ¦ WORD*24
kubeconfig-token ¦ config ¦ users:\n- user:\n    token: @@\n ¦ WORD*40
kubeconfig-key ¦ config ¦     client-key-data: @@\n ¦ LS0tLS1CRUdJTi B64*400 ==
helm ¦ values.yaml ¦ auth:\n  rootPassword: '@@'\n ¦ TYPED*15
ansible ¦ vars.yml ¦ ansible_become_password: "@@"\n ¦ TYPED*13
terraform ¦ main.tf ¦   master_password    = "@@"\n ¦ WORD*16
terraform-aws ¦ main.tf ¦ provider "aws" {\n  secret_key = "@@"\n}\n ¦ B64*40
tfvars ¦ prod.tfvars ¦ db_pass = "@@"\n ¦ TYPED*14
spring ¦ application.properties ¦ spring.datasource.password=@@\n ¦ WORD*14
spring-yaml ¦ application.yml ¦   datasource:\n    password: @@\n ¦ TYPED*14
java ¦ A.java ¦ private static final String API_KEY = "@@";\n ¦ WORD*32
kotlin ¦ A.kt ¦ const val CLIENT_SECRET = "@@"\n ¦ URLSAFE*28
gradle ¦ gradle.properties ¦ signingPassword=@@\n ¦ WORD*12
maven ¦ settings.xml ¦ <server><id>a</id><password>@@</password></server>\n ¦ WORD*16
webconfig ¦ Web.config ¦ <add key="SmtpPassword" value="@@" />\n ¦ WORD*14
ado ¦ appsettings.json ¦ "Default": "Server=db;User Id=sa;Password=@@;"\n ¦ WORD*14
csharp ¦ A.cs ¦ var clientSecret = "@@";\n ¦ TYPED*30
go ¦ a.go ¦ const apiToken string = "@@"\n ¦ HEX*40
go-struct ¦ a.go ¦ cfg := Config{Password: "@@"}\n ¦ WORD*15
rust ¦ a.rs ¦ const API_TOKEN: &str = "@@";\n ¦ WORD*32
c ¦ a.h ¦ #define API_KEY "@@"\n ¦ HEX*32
js-object ¦ a.js ¦ auth: { user: 'me', pass: '@@' }\n ¦ TYPED*16
js-fallback ¦ a.js ¦ const secret = process.env.SECRET || '@@';\n ¦ HEX*48
ts ¦ a.ts ¦ private readonly apiKey: string = '@@';\n ¦ WORD*39
jsx ¦ a.jsx ¦ <Map accessToken="@@" />\n ¦ pk .ey URLSAFE*60 . URLSAFE*22
json ¦ config.json ¦ {"smtp": {"password": "@@"}}\n ¦ TYPED*16
json-camel ¦ config.json ¦ {"clientSecret":"@@"}\n ¦ URLSAFE*40
php-define ¦ wp-config.php ¦ define( 'DB_PASSWORD', '@@' );\n ¦ TYPED*20
php-array ¦ config.php ¦ 'password' => '@@',\n ¦ TYPED*15
wp-salt ¦ wp-config.php ¦ define('AUTH_KEY',         '@@');\n ¦ SIGNS*64
ruby ¦ a.rb ¦ config.secret_key_base = '@@'\n ¦ HEX*128
elixir ¦ config.exs ¦   secret_key_base: "@@"\n ¦ B64*64
django ¦ settings.py ¦ SECRET_KEY = 'django-insecure-@@'\n ¦ DJANGO*50
python-arg ¦ a.py ¦ connect(host='db', user='a', password='@@')\n ¦ TYPED*14
python-environ ¦ a.py ¦ os.environ["API_KEY"] = "@@"\n ¦ WORD*32
python-get ¦ a.py ¦ os.environ.get("AUTH_TOKEN", "@@")\n ¦ WORD*32
python-dict ¦ a.py ¦ headers = {"X-Api-Key": "@@"}\n ¦ WORD*32
python-basic ¦ a.py ¦ h = {"Authorization": "Basic @@"}\n ¦ WORD*34 ==
powershell ¦ a.ps1 ¦ $env:SQL_PASSWORD = "@@"\n ¦ TYPED*14
makefile ¦ Makefile ¦ TOKEN := @@\n ¦ HEX*40
curl-user ¦ a.sh ¦ curl -u admin:@@ https://a/b\n ¦ WORD*16
curl-header ¦ a.md ¦     curl -H "X-Auth-Token: @@" https://a\n ¦ HEX*32
mysql ¦ backup.sh ¦ mysqldump -u root -p@@ shop\n ¦ WORD*14
option ¦ a.sh ¦ deploy --api-token @@ --env prod\n ¦ HEX*40
option-equals ¦ a.sh ¦ redis-cli --password=@@\n ¦ WORD*18
sql-identified ¦ init.sql ¦ CREATE USER app IDENTIFIED BY '@@';\n ¦ TYPED*14
sql-role ¦ init.sql ¦ ALTER ROLE app WITH PASSWORD '@@';\n ¦ TYPED*14
ini ¦ app.ini ¦ [smtp]\npasswd = @@\n ¦ WORD*14
pip ¦ pip.conf ¦ index-url = https://deploy:@@@pypi.internal/simple\n ¦ WORD*20
git-credentials ¦ .git-credentials ¦ https://me:@@@git.internal\n ¦ gh o_ WORD*36
netrc ¦ .netrc ¦ machine a.internal login me password @@\n ¦ TYPED*14
mongo ¦ a.js ¦ mongoose.connect('mongodb+srv://app:@@@c0.x.mongodb.net/a')\n ¦ WORD*16
amqp ¦ a.py ¦ BROKER_URL = "amqp://app:@@@mq:5672//"\n ¦ WORD*14
query ¦ access.log ¦ GET /v1/a?access_token=@@&x=1 200\n ¦ WORD*40
markdown ¦ README.md ¦ The staging password is `@@`.\n ¦ TYPED*16
markdown-table ¦ README.md ¦ | API key | `@@` |\n ¦ HEX*32
notebook ¦ a.ipynb ¦ "source": ["API_TOKEN = '@@'\\n"]\n ¦ WORD*36
groovy ¦ Jenkinsfile ¦ withEnv(['DEPLOY_TOKEN=@@']) {\n ¦ WORD*32
circle ¦ config.yml ¦       SONAR_TOKEN: @@\n ¦ HEX*40
swift ¦ A.swift ¦ let apiSecret = "@@"\n ¦ WORD*30
perl ¦ a.pl ¦ my $password = '@@';\n ¦ TYPED*14
lua ¦ a.lua ¦ local secret = "@@"\n ¦ WORD*24
toml ¦ a.toml ¦ secret-key = "@@"\n ¦ URLSAFE*43
nginx ¦ a.conf ¦ proxy_set_header X-Api-Key "@@";\n ¦ HEX*32
laravel ¦ .env ¦ APP_NAME=Shop\nAPP_KEY=@@\nAPP_DEBUG=false\n ¦ base64: B64*43 =
rails ¦ database.yml ¦ production:\n  username: shop\n  password: @@\n ¦ WORD*22
smtp ¦ application.yaml ¦ spring:\n  mail:\n    password: '@@'\n ¦ LOWER*4 \x20 LOWER*4 \x20 LOWER*4 \x20 LOWER*4
redis-conf ¦ redis.conf ¦ # security\nrequirepass @@\n ¦ WORD*32
postfix ¦ sasl_passwd ¦ [smtp.host.net]:587 me@host.net:@@\n ¦ WORD*16
pgpass ¦ .pgpass ¦ db.internal:5432:shop:app:@@\n ¦ WORD*16
s3cfg ¦ .s3cfg ¦ access_key = x\nsecret_key = @@\n ¦ B64*40
boto ¦ upload.py ¦ boto3.client('s3', aws_secret_access_key='@@')\n ¦ B64*40
aws-js ¦ s3.ts ¦ credentials: { accessKeyId: id, secretAccessKey: '@@' }\n ¦ B64*40
aws-id ¦ notes.md ¦ Use key @@ for the bucket.\n ¦ AK IA BASE32*16
gha ¦ .github/workflows/a.yml ¦ env:\n  DEPLOY_KEY: @@\n ¦ URLSAFE*44
gitlab-ci ¦ .gitlab-ci.yml ¦   script:\n    - export SENTRY_AUTH_TOKEN=@@\n ¦ HEX*64
travis ¦ .travis.yml ¦     api_key: '@@'\n ¦ URLSAFE*40
gcp-json ¦ sa.json ¦ {"type": "service_account", "private_key": "-----BEGIN @@"}\n ¦ PRIVATE\x20KEY ----- \\nMI B64*60
github-url ¦ install.sh ¦ git remote add o https://@@@github.com/a/b.git\n ¦ gh p_ WORD*36
github-header ¦ a.py ¦ headers={"Authorization": "token @@"}\n ¦ gh o_ WORD*36
slack-user ¦ a.rb ¦ Slack.configure { |c| c.token = "@@" }\n ¦ xox p- DIGITS*11 - DIGITS*11 - DIGITS*12 - HEX*32
stripe-test ¦ pay.py ¦ stripe.api_key = '@@'\n ¦ sk_ test_ WORD*99
openai-svc ¦ app.py ¦ OpenAI(api_key='@@')\n ¦ sk- svcacct- URLSAFE*80
openrouter ¦ a.sh ¦ export OPENROUTER_API_KEY=@@\n ¦ sk- or-v1- HEX*64
deepseek ¦ config.toml ¦ api_key = "@@"\n ¦ sk - HEX*32
anthropic ¦ docker-compose.yml ¦       - ANTHROPIC_API_KEY=@@\n ¦ sk- ant-api03- URLSAFE*93 AA
groq ¦ a.js ¦ new Groq({ apiKey: '@@' })\n ¦ gs k_ WORD*52
firebase ¦ firebase.js ¦ apiKey: "@@",\n ¦ AIz aSy URLSAFE*33
maps ¦ AndroidManifest.xml ¦ <meta-data android:name="geo" android:value="@@"/>\n ¦ AIz aSy URLSAFE*33
azure-conn ¦ local.settings.json ¦ "AzureWebJobsStorage": "AccountName=x;AccountKey=@@;Suffix=y"\n ¦ B64*86 ==
service-bus ¦ a.cs ¦ "Endpoint=sb://x/;SharedAccessKeyName=R;SharedAccessKey=@@"\n ¦ B64*43 =
cosmos ¦ a.py ¦ CosmosClient(url, credential='@@')\n ¦ B64*86 ==
jdbc ¦ db.properties ¦ url=jdbc:mysql://db/shop?user=app&password=@@&useSSL=true\n ¦ WORD*14
sqlalchemy ¦ alembic.ini ¦ sqlalchemy.url = mysql+pymysql://app:@@@db/shop\n ¦ WORD*14
pg-dsn ¦ a.go ¦ sql.Open("postgres", "host=db user=app password=@@ sslmode=disable")\n ¦ WORD*14
celery ¦ settings.py ¦ CELERY_BROKER_URL = 'redis://:@@@cache:6379/1'\n ¦ URLSAFE*24
rust-env ¦ main.rs ¦ env::set_var("JWT_SECRET", "@@");\n ¦ WORD*40
node-jwt ¦ auth.js ¦ jwt.sign(payload, '@@', { expiresIn: '1h' })\n ¦ HEX*64
express-session ¦ app.js ¦ app.use(session({ secret: '@@', resave: false }))\n ¦ WORD*24
flask ¦ app.py ¦ app.config["SECRET_KEY"] = "@@"\n ¦ HEX*48
flask-bytes ¦ app.py ¦ app.secret_key = b'@@'\n ¦ TYPED*20
jwt ¦ test.http ¦ Authorization: Bearer @@\n ¦ ey JhbGciOiJSUzI1NiJ9.ey J URLSAFE*80 . URLSAFE*86
android ¦ keystore.properties ¦ storePassword=@@\nkeyAlias=a\n ¦ WORD*14
nuget ¦ NuGet.config ¦ <add key="ClearTextPassword" value="@@" />\n ¦ WORD*18
xml-token ¦ config.xml ¦ <apiToken>@@</apiToken>\n ¦ HEX*34
terraform-var ¦ variables.tf ¦ variable "db_password" {\n  default = "@@"\n}\n ¦ TYPED*16
cloudformation ¦ stack.yml ¦       MasterUserPassword: @@\n ¦ WORD*16
inventory ¦ hosts.ini ¦ web1 ansible_user=root ansible_ssh_pass=@@\n ¦ WORD*14
wifi ¦ config.h ¦ #define WIFI_PASSWORD "@@"\n ¦ TYPED*12
arduino ¦ main.ino ¦ const char* password = "@@";\n ¦ TYPED*12
unity ¦ A.cs ¦ PlayerSettings.Android.keystorePass = "@@";\n ¦ WORD*14
log ¦ debug.log ¦ 2026-01-02 POST /login api_key=@@ 200\n ¦ WORD*32
har ¦ session.har ¦ {"name": "X-Api-Key", "value": "@@"}\n ¦ HEX*40
postman ¦ env.json ¦ {"key": "api_token", "value": "@@", "enabled": true}\n ¦ HEX*40
curl-data ¦ a.sh ¦ curl -d 'client_secret=@@' https://a/token\n ¦ URLSAFE*40
wget ¦ a.sh ¦ wget --user=me --password='@@' https://a/b\n ¦ TYPED*14
mongo-shell ¦ init.js ¦ db.createUser({user: 'app', pwd: '@@', roles: []})\n ¦ TYPED*16
ldap ¦ ldap.conf ¦ bindpw @@\n ¦ WORD*16
ldap-py ¦ a.py ¦ conn.simple_bind_s(dn, password='@@')\n ¦ TYPED*15
docker-auth ¦ config.json ¦ {"auths": {"r.io": {"auth": "@@"}}}\n ¦ WORD*38 ==
npmrc ¦ .npmrc ¦ //npm.internal/:_authToken=@@\n ¦ HEX*8 - HEX*4 -4 HEX*3 -a HEX*3 - HEX*12
sentry-dsn ¦ a.py ¦ sentry_sdk.init('https://@@:x@sentry.internal/4')\n ¦ HEX*32
discord-hook ¦ a.sh ¦ curl https://discord.com/api/webhooks/@@\n ¦ NUMBER*18 / URLSAFE*68
telegram ¦ config.yaml ¦ telegram:\n  token: "@@"\n ¦ NUMBER*10 :A A URLSAFE*33
sendgrid ¦ .env ¦ SENDGRID_API_KEY=@@\n ¦ S G. URLSAFE*22 . URLSAFE*43
twilio-auth ¦ sms.py ¦ twilio_auth_token = '@@'\n ¦ HEX*32
pypi ¦ publish.sh ¦ twine upload -u __token__ -p @@ dist/*\n ¦ py pi-AgEIcHlwaS5vcmc URLSAFE*150
sops-age ¦ key.txt ¦ # created: 2026\n@@\n ¦ AGE-SEC RET-KEY-1 SERIAL*58
vault ¦ ci.yml ¦       VAULT_TOKEN: @@\n ¦ hv s. WORD*90
comment ¦ a.java ¦ // old password: @@\n ¦ TYPED*13
csv ¦ users.csv ¦ name,api_key\nme,@@\n ¦ HEX*32
readme-export ¦ README.md ¦     $ export API_SECRET=@@\n ¦ WORD*28
kotlin ¦ A.kt ¦ .header("X-Auth-Token", "@@")\n ¦ WORD*32
swift ¦ A.swift ¦ request.setValue("Bearer @@", forHTTPHeaderField: "Authorization")\n ¦ URLSAFE*48
yaml-grafana ¦ datasource.yml ¦     secureJsonData:\n      token: @@\n ¦ gl sa_ WORD*32 _ HEX*8
toml-cargo ¦ credentials.toml ¦ [registry]\ntoken = "@@"\n ¦ ci o WORD*32
ssh-config ¦ id_backup ¦ -----BEGIN @@\n ¦ OPENSSH\x20PRIVATE\x20KEY ----- \n B64*70 \n B64*70
""")
FRESH = _samples(r"""
env-pusher ¦ .env ¦ PUSHER_APP_SECRET=@@\n ¦ HEX*20
env-algolia ¦ .env ¦ ALGOLIA_ADMIN_API_KEY=@@\n ¦ HEX*32
env-auth0 ¦ .env ¦ AUTH0_CLIENT_SECRET=@@\n ¦ URLSAFE*64
env-redis ¦ .env ¦ REDIS_URL=rediss://default:@@@eu1.cache.io:6380\n ¦ WORD*32
env-smtp ¦ .env.example.local ¦ SMTP_PASS=@@\nSMTP_PORT=587\n ¦ TYPED*16
env-hmac ¦ prod.env ¦ HMAC_KEY=@@\n ¦ HEX*64
env-xai ¦ .env ¦ XAI_API_KEY=@@\n ¦ xa i- WORD*80
env-newrelic ¦ .env ¦ NEW_RELIC_LICENSE_KEY=@@\n ¦ HEX*36 NR AL
env-cloud ¦ .env ¦ CLOUDINARY_URL=cloudinary://384729184756123:@@@shop\n ¦ URLSAFE*27
compose ¦ compose.yaml ¦       MARIADB_PASSWORD: '@@'\n ¦ TYPED*18
compose-cmd ¦ compose.yaml ¦     command: redis-server --requirepass @@\n ¦ WORD*20
helm ¦ values-prod.yaml ¦ postgresql:\n  auth:\n    postgresPassword: @@\n ¦ WORD*18
k8s-string ¦ secret.yml ¦ stringData:\n  api-token: "@@"\n ¦ WORD*40
k8s-pull ¦ pull.yml ¦   .dockerconfigjson: {"auths":{"r":{"password":"@@"}}}\n ¦ WORD*22
gha-input ¦ deploy.yml ¦         with:\n          api-key: @@\n ¦ HEX*40
ansible-vault ¦ group_vars/all.yml ¦ vault_db_password: '@@'\n ¦ TYPED*20
salt ¦ pillar.sls ¦ mysql:\n  root_password: @@\n ¦ WORD*16
tf-github ¦ main.tf ¦ provider "github" {\n  token = "@@"\n}\n ¦ gh p_ WORD*36
tf-secret ¦ main.tf ¦   secret_string = "@@"\n ¦ TYPED*24
tf-azure ¦ main.tf ¦   client_secret   = "@@"\n ¦ WORD*3 8Q ~ URLSAFE*34
json-package ¦ config.json ¦ {"mailer": {"apiKey": "@@"}}\n ¦ S G. URLSAFE*22 . URLSAFE*43
json-jwt ¦ seed.json ¦ {"id_token": "@@"}\n ¦ ey JhbGciOiJSUzI1NiJ9.ey J URLSAFE*90 . URLSAFE*86
json-discord ¦ bot.json ¦ {"prefix": "!", "token": "@@"}\n ¦ MT WORD*24 . URLSAFE*6 . URLSAFE*38
json-service ¦ sa.json ¦ {"private_key": "-----BEGIN @@-----END PRIVATE KEY-----\\n"}\n ¦ PRIVATE\x20KEY ----- \\n B64*64 \\n B64*64 \\n
json-azure ¦ parameters.json ¦ "adminPassword": { "value": "@@" }\n ¦ TYPED*18
toml-netlify ¦ netlify.toml ¦   AUTH_TOKEN = "@@"\n ¦ URLSAFE*43
toml-wrangler ¦ wrangler.toml ¦ [vars]\nJWT_SECRET = "@@"\n ¦ WORD*32
py-boto ¦ s3.py ¦ ACCESS = '@@'\n ¦ AK IA BASE32*16
py-session ¦ s3.py ¦ Session(aws_access_key_id=i, aws_secret_access_key="@@")\n ¦ B64*40
py-slack ¦ bot.py ¦ WebClient(token="@@")\n ¦ xox b- DIGITS*13 - DIGITS*13 - WORD*24
py-engine ¦ db.py ¦ create_engine("postgresql+psycopg2://etl:@@@warehouse/dw")\n ¦ WORD*16
py-getenv ¦ settings.py ¦ DB_PASSWORD = os.getenv("DB_PASSWORD", "@@")\n ¦ WORD*16
py-dict ¦ settings.py ¦     'PASSWORD': '@@',\n ¦ TYPED*16
py-smtp ¦ mail.py ¦ server.login('me@corp.com', '@@')\n ¦ TYPED*16
js-header ¦ api.js ¦ headers: { 'x-api-key': '@@' }\n ¦ WORD*40
js-axios ¦ api.js ¦ axios.defaults.headers.Authorization = 'Bearer @@'\n ¦ WORD*48
js-mysql ¦ db.js ¦ mysql.createPool({ user: 'app', password: '@@' })\n ¦ TYPED*16
ts-nest ¦ auth.module.ts ¦ JwtModule.register({ secret: '@@' })\n ¦ WORD*32
ts-twilio ¦ sms.ts ¦ const authToken = '@@'\n ¦ HEX*32
java-const ¦ Keys.java ¦ static final String SECRET_KEY = "@@";\n ¦ B64*40
java-spring ¦ application-prod.properties ¦ jwt.secret=@@\n ¦ B64*44
kt-buildconfig ¦ build.gradle ¦ buildConfigField "String", "API_KEY", "@@"\n ¦ WORD*32
swift-plist ¦ Info.plist ¦ <key>APIKey</key><string>@@</string>\n ¦ AIz aSy URLSAFE*33
go-const ¦ main.go ¦ const jwtSecret = "@@"\n ¦ WORD*32
go-dsn ¦ main.go ¦ dsn := "app:@@@tcp(db:3306)/shop?parseTime=true"\n ¦ WORD*16
rs-const ¦ main.rs ¦ let password = "@@";\n ¦ TYPED*16
rb-yml ¦ secrets.yml ¦   secret_key_base: @@\n ¦ HEX*128
rb-aws ¦ aws.rb ¦ Aws::Credentials.new('@@', s)\n ¦ AK IA BASE32*16
php-wp ¦ wp-config.php ¦ define('SECURE_AUTH_KEY', '@@');\n ¦ SALT*64
php-mysqli ¦ db.php ¦ new mysqli('localhost', 'app', '@@', 'shop');\n ¦ TYPED*16
cs-secret ¦ Startup.cs ¦ options.ClientSecret = "@@";\n ¦ GOC SPX- URLSAFE*28
ps-secure ¦ a.ps1 ¦ ConvertTo-SecureString "@@" -AsPlainText -Force\n ¦ TYPED*18
sh-token ¦ release.sh ¦ TOKEN="@@"\n ¦ gh s_ WORD*36
sh-sudo ¦ a.sh ¦ echo '@@' | sudo -S apt update\n ¦ TYPED*14
sh-aws ¦ a.sh ¦ aws configure set aws_secret_access_key @@\n ¦ B64*40
sh-curl-basic ¦ a.sh ¦ curl --user "svc:@@" https://jira.corp\n ¦ WORD*24
bat ¦ a.bat ¦ set DB_PASSWORD=@@\r\n ¦ WORD*16
cnf ¦ replica.cnf ¦ MASTER_PASSWORD='@@',\n ¦ TYPED*18
odbc ¦ odbc.ini ¦ UID=app\nPWD=@@\n ¦ WORD*16
nginx ¦ nginx.conf ¦ proxy_set_header Authorization "Basic @@";\n ¦ WORD*38 ==
wg ¦ wg0.conf ¦ [Interface]\nPrivateKey = @@\n ¦ B64*43 =
wpa ¦ wpa_supplicant.conf ¦   psk="@@"\n ¦ TYPED*16
md-table ¦ README.md ¦ | DB password | `@@` |\n ¦ TYPED*16
md-code ¦ docs/setup.md ¦ `export OPENAI_API_KEY=@@`\n ¦ sk- proj- URLSAFE*120
md-url ¦ README.md ¦ Webhook: https://hooks.slack.com/services/@@\n ¦ T SERIAL*8 /B SERIAL*8 / WORD*24
ipynb ¦ a.ipynb ¦ "os.environ[\\"HF_TOKEN\\"] = \\"@@\\"\\n",\n ¦ h f_ WORD*34
log ¦ app.log ¦ INFO connecting with password=@@ to db\n ¦ WORD*16
log-bearer ¦ app.log ¦ > Authorization: Bearer @@\n ¦ ey JhbGciOiJIUzI1NiJ9.ey J URLSAFE*60 . URLSAFE*43
xml-ssis ¦ conn.xml ¦ <ConnectionString>Server=db;Uid=sa;Pwd=@@;</ConnectionString>\n ¦ WORD*16
pem-ec ¦ tls.key ¦ -----BEGIN @@-----END EC PRIVATE KEY-----\n ¦ EC\x20PRIVATE\x20KEY ----- \n B64*64 \n B64*64 \n B64*32 \n
""")


def digest_of(value: str) -> str:
    return f"sha256:{hashlib.sha256(value.encode()).hexdigest()}"
