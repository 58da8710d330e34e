"""PHP: skeleton, outline, digest and picked symbols, text in and text out."""

import pytest

from tests.viewing import check_skeleton, masked_of, outline_of, skeleton_of, summary_of

SAMPLE = r"""
#!/usr/bin/env php
<?php
/**
 * Users and their mail.
 */
declare(strict_types=1);

namespace App\Users;

use App\Base as Root;
use App\Mail\{Address, Message};
use function App\helper;

require_once __DIR__ . '/boot.php';
require 'functions.php';

const LIMIT = 10;
define('MODE', 'function f() {');

#[Entity]
abstract class User extends Root implements Named
{
    use HasEvents;
    use Loggable { log as protected; }

    public const TYPE = 'user';
    private ?Address $address = null;

    #[Inject]
    public function __construct(
        private readonly string $name,
        protected array $tags = ['{', '}'],
    ) {
        $this->address = new Address($name);
    }

    abstract protected function role(): string;

    public static function find(int $id): ?static
    {
        $query = <<<SQL
        SELECT } FROM users
        SQL;
        return new class($query) { public function run() { return 1; } };
    }

    final public function &tags(): array { return $this->tags; }
}

interface Named
{
    public function name(): string;
}

trait HasEvents
{
    protected function emit(string $event): void
    {
        echo "event: {$event}\n";
    }
}

enum Suit: string
{
    case Hearts = 'h';
    case Spades = 's';

    public function label(): string
    {
        return ucfirst(strtolower($this->name));
    }
}

function greet(string $name = 'you'): string
{
    return "Hello, $name # not a comment";
}

$shout = function (string $text) use ($mode): string {
    return strtoupper($text);
};
$double = fn (int $x): int => $x * 2;

$app->get('/users', function ($request, $response) {
    return $response->withJson(User::all());
});

if (!function_exists('helper')) {
    function helper() { return greet() . greet(); }
}
?>
<ul>
<?php foreach ($users as $user): ?>
  <li><?= $user->name ?></li>
<?php endforeach; ?>
</ul>
"""[1:]

SKELETON = r"""
#!/usr/bin/env php
<?php
/**
 * Users and their mail.
 */
declare(strict_types=1);

namespace App\Users;

use App\Base as Root;
use App\Mail\{Address, Message};
use function App\helper;

require_once __DIR__ . '/boot.php';
require 'functions.php';

const LIMIT = 10;
define('MODE', 'function f() {');

#[Entity]
abstract class User extends Root implements Named
{
    use HasEvents;
    use Loggable { log as protected; }

    public const TYPE = 'user';
    private ?Address $address = null;

    #[Inject]
    public function __construct(
        private readonly string $name,
        protected array $tags = ['{', '}'],
    ) { /* ... */ }

    abstract protected function role(): string;

    public static function find(int $id): ?static
    { /* ... */ }

    final public function &tags(): array { /* ... */ }
}

interface Named
{
    public function name(): string;
}

trait HasEvents
{
    protected function emit(string $event): void
    { /* ... */ }
}

enum Suit: string
{
    case Hearts = 'h';
    case Spades = 's';

    public function label(): string
    { /* ... */ }
}

function greet(string $name = 'you'): string
{ /* ... */ }

$shout = function (string $text) use ($mode): string { /* ... */ };
$double = fn (int $x): int => $x * 2;

$app->get('/users', function ($request, $response) { /* ... */ });

if (!function_exists('helper')) {
    function helper() { /* ... */ }
}
?>
<ul>
<?php foreach ($users as $user): ?>
  <li><?= $user->name ?></li>
<?php endforeach; ?>
</ul>
"""[1:]

OUTLINE = r"""
8-8    namespace App\Users
20-48  #[Entity] abstract class User extends Root implements Named
29-35    #[Inject] public function __construct(private readonly string $name, protected array $tags = ['{', '}'])
37-37    abstract protected function role(): string
39-45    public static function find(int $id): ?static
47-47    final public function &tags(): array
50-53  interface Named
52-52    public function name(): string
55-61  trait HasEvents
57-60    protected function emit(string $event): void
63-72  enum Suit: string
68-71    public function label(): string
74-77  function greet(string $name = 'you'): string
79-81  $shout = function (string $text) use ($mode): string
82-82  $double = fn (int $x): int =>
89-89  function helper()
"""[1:]

SUMMARY = r"""
php, 96 lines, 1 namespace, 1 class, 7 methods, 1 interface, 1 trait, 1 enum, 4 functions
Users and their mail.
imports: App\Base, App\Mail, App\helper, /boot.php, functions.php
constants: LIMIT, MODE
namespace App\Users
#[Entity] abstract class User extends Root implements Named: __construct, role, find, tags
interface Named: name
trait HasEvents: emit
enum Suit: string: label
functions: greet, $shout, $double, helper
"""[1:]


def test_only_bodies_are_cut() -> None:
    """The skeleton is the file without its bodies, byte for byte (M-33)."""
    assert skeleton_of("a.php", SAMPLE) == SKELETON


def test_outline_and_digest() -> None:
    """The outline has a row per definition, nested; the digest names what the file is made of (M-32, M-34)."""
    assert outline_of("a.php", SAMPLE) == OUTLINE
    assert summary_of("a.php", SAMPLE) + "\n" == SUMMARY


def test_skeleton_invariants() -> None:
    """The skeleton parses, is its own skeleton, is no longer than the file and maps to its lines (M-33)."""
    check_skeleton("a.php", SAMPLE)


@pytest.mark.parametrize(
    ("mask", "text"),
    [
        ({"User::tags": "def"}, "final public function &tags(): array { return $this->tags; }"),
        ({"User.find": "sig"}, "public static function find(int $id): ?static"),
        (
            {"__construct": "sig"},
            "#[Inject]\n    public function __construct(\n        private readonly string $name,\n"
            "        protected array $tags = ['{', '}'],\n    )",
        ),
        ({"Suit": "sig", "HasEvents": "sig"}, "enum Suit: string\n\ntrait HasEvents"),
        ({"$double": "def"}, "$double = fn (int $x): int => $x * 2;"),
    ],
)
def test_masks(mask: dict[str, str], text: str) -> None:
    """Attributes belong to a definition; symbols are found by name or path (M-35, M-X15)."""
    assert masked_of("a.php", SAMPLE, mask) == text


def test_namespaces_in_braces() -> None:
    """Several namespaces in one file nest what they hold (M-33, M-34)."""
    source = """\
<?php
namespace A {
  function f() { return first() + 1; }
}
namespace B {
  class C {
    function g() { return first() + 1; }
  }
}
"""
    assert skeleton_of("a.php", source) == source.replace(
        "{ return first() + 1; }", "{ /* ... */ }"
    )
    assert (
        outline_of("a.php", source)
        == """\
2-4  namespace A
3-3    function f()
5-9  namespace B
6-8    class C
7-7      function g()
"""
    )


def test_html_inside_of_a_function() -> None:
    """A function that steps out into HTML is cut whole, what stands around it stays (M-33)."""
    source = "<h1>Top</h1>\n<?php function row($x) { ?>\n  <tr><td><?= $x ?></td></tr>\n<?php } ?>\n<p>End</p>\n"
    assert (
        skeleton_of("a.php", source)
        == "<h1>Top</h1>\n<?php function row($x) { /* ... */ } ?>\n<p>End</p>\n"
    )
    check_skeleton("a.php", source)


def test_a_returned_function_or_class_stays_open() -> None:
    """A file that returns one function or class is not swallowed by it (M-33)."""
    source = "<?php\nreturn function ($app) {\n  $app->get('/', function () { return view('index'); });\n};\n"
    expected = "<?php\nreturn function ($app) {\n  $app->get('/', function () { /* ... */ });\n};\n"
    assert skeleton_of("routes.php", source) == expected
    source = "<?php\nreturn new class extends Migration {\n  public function up() { Schema::create('a'); }\n};\n"
    assert (
        outline_of("m.php", source)
        == "2-4  return new class extends Migration\n3-3    public function up()\n"
    )
