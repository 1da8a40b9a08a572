"""The tutorial's pages that move, in a real browser: they show what norch computes, by mouse and by keyboard."""

from __future__ import annotations

import ast
import re
import sys
from pathlib import Path

import pytest
from browser import CHROMIUM, DRIVER, Browser

import norch

ROOT = Path(__file__).resolve().parents[2]
PAGES = ROOT / "examples" / "tutorial" / "pages"
NAMES = ["strides", "backward", "sin2"]

if CHROMIUM is None or DRIVER is None:
    pytest.skip("no Chromium (Debian: apt install chromium chromium-driver)", allow_module_level=True)


@pytest.fixture(scope="module")
def browser():
    with Browser() as started:
        yield started


@pytest.fixture
def opened(browser):
    """Opens a page; what it said in the console by the end is an error."""

    def open_(name, **how):
        browser.open(PAGES / f"{name}.html", **how)
        return browser

    yield open_
    assert browser.messages() == []


@pytest.fixture
def scripts(monkeypatch):
    """Imports a script of the pages' folder."""
    monkeypatch.syspath_prepend(str(PAGES))
    for name in ("frame", "strides", "backward", "sin2"):
        monkeypatch.delitem(sys.modules, name, raising=False)
    return __import__


# ---- What holds for each ---------------------------------------------------------------------------------------------

LUMINANCE = r"""
const linear = (v) => (v /= 255) <= 0.04045 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4;
const luminance = (color) => {
  const [r, g, b] = color.match(/[\d.]+/g).map(linear);
  return 0.2126 * r + 0.7152 * g + 0.0722 * b;
};
"""
# The lowest contrast between a text and what lies behind it: WCAG asks for 4.5.
CONTRAST = (
    LUMINANCE
    + """
const behind = (e) => {
  for (; e; e = e.parentElement) {
    const box = e.tagName === "g" ? e.querySelector("rect") : null;
    const color = box ? getComputedStyle(box).fill : getComputedStyle(e).backgroundColor;
    if (!color.startsWith("rgba(0, 0, 0, 0")) return color;
  }
};
let worst = [99, ""];
for (const e of document.querySelectorAll("main *")) {
  const own = [...e.childNodes].some((n) => n.nodeType === 3 && n.data.trim());
  if (!own || e.closest(":disabled, script, style, .hidden, option") || !e.getClientRects().length) continue;
  const style = getComputedStyle(e), inSvg = e.namespaceURI.endsWith("svg");
  const [a, b] = [inSvg ? style.fill : style.color, behind(e)].map(luminance);
  const ratio = (Math.max(a, b) + 0.05) / (Math.min(a, b) + 0.05);
  if (ratio < worst[0]) worst = [ratio, e.textContent.slice(0, 40)];
}
return worst;
"""
)
# What a reader who hears the page would meet without a name.
NAMELESS = """
const named = "button, input, select, svg[role=img], table, section, nav, [role=group]";
const textOf = (id) => document.getElementById(id)?.textContent ?? "";
return [...document.querySelectorAll(named)].filter((e) => {
  const by = (e.getAttribute("aria-labelledby") ?? "").split(" ").map(textOf).join("");
  const labels = [...(e.labels ?? [])].map((label) => label.textContent).join("");
  const own = e.tagName === "BUTTON" ? e.textContent : "";
  return !(e.getAttribute("aria-label") || by || labels || own).trim();
}).map((e) => e.outerHTML.slice(0, 80));
"""


IN_USE = {  # what brings out the colors that a fresh page does not show
    "strides": "for (const name of ['t.T', 't.view(12)']) "
    "[...get('operations').children].find((button) => button.textContent === name).click()",
    "backward": "show(current.steps.length - 2)",
    "sin2": "get('ten').click()",
}


@pytest.mark.parametrize("dark", [False, True], ids=["light", "dark"])
@pytest.mark.parametrize("width", [380, 1200])
@pytest.mark.parametrize("name", NAMES)
def test_a_page_fits_and_can_be_read(opened, name, width, dark):
    browser = opened(name, width=width, dark=dark)
    assert browser.run("return document.documentElement.scrollWidth") <= width
    for script in ("", IN_USE[name]):
        browser.run(script)
        ratio, text = browser.run(CONTRAST)
        assert 4.5 <= ratio < 99, text
    assert browser.run("return document.documentElement.scrollWidth") <= width
    assert browser.run(NAMELESS) == []
    (background,) = browser.run("return [getComputedStyle(document.body).backgroundColor]")
    assert (int(re.findall(r"\d+", background)[0]) < 60) == dark
    assert browser.run("return document.querySelector('nav [aria-current]').href").endswith(f"{name}.html")


@pytest.mark.parametrize("name", NAMES)
def test_every_control_is_reached_by_the_keyboard(opened, name):
    browser = opened(name)
    wanted = "button:not(:disabled):not([tabindex='-1']), input, select, a"
    count = browser.run(f'return document.querySelectorAll("{wanted}").length')
    reached = set()
    for _ in range(count):
        browser.press("Tab")
        at = "const all = [...document.querySelectorAll('button, input, select, a')]; const e = document.activeElement;"
        place, outline = browser.run(at + "return [all.indexOf(e), getComputedStyle(e).outlineStyle]")
        assert place >= 0 and outline != "none"
        reached.add(place)
    assert len(reached) == count


# ---- Strides ---------------------------------------------------------------------------------------------------------


def test_every_view_reads_the_bytes_that_norch_reads(opened, scripts):
    """Every path of two operations: the page's grid is the tensor, and each place is that of the element."""
    strides = scripts("strides")
    browser = opened("strides")
    x = norch.arange(12, dtype=norch.float32).view(3, 4)
    count = 0
    for first, one in strides.OPERATIONS.items():
        for second, two in strides.OPERATIONS.items():
            try:
                t = two(one(x))
            except (RuntimeError, IndexError, ValueError):
                continue
            if not t.numel() or not t.ndim:
                continue
            count += 1
            assert shown_after(browser, first, second) == places_of(t), first + second
    assert count > 50


def shown_after(browser, *operations):
    return browser.run(
        """get("reset").click();
        for (const name of arguments) [...get("operations").children].find((b) => b.textContent === "t" + name).click();
        return [...get("grid").querySelectorAll(".cell")].map((cell) => {
          cell.focus();
          const sum = get("sum").textContent, memory = [...get("memory").children];
          const [place, byte] = [/place (\\d+)/, /bytes (\\d+) to/].map((found) => Number(sum.match(found)[1]));
          const marked = memory.findIndex((other) => other.classList.contains("chosen"));
          return [cell.dataset.index, cell.firstChild.data, place, byte, marked];
        });""",
        *operations,
    )


def places_of(t):
    """Index, value, place, first byte, the place again: of each element, from its own address."""
    found = []
    for flat in range(t.numel()):
        index = (flat,) if t.ndim == 1 else divmod(flat, t.shape[1])
        element = t[index]
        place = (element.data_ptr() - t.untyped_storage().data_ptr()) // 4
        found.append([",".join(map(str, index)), f"{element.item():g}", place, 4 * place, place])
    return found


def test_an_element_is_chosen_although_another_window_is_in_front(opened):
    """A fresh headless window may not have the focus yet; then focus() would tell the page nothing."""
    browser = opened("strides")
    other = browser.command("Target.createTarget", {"url": "about:blank"})["targetId"]
    cells = shown_after(browser, ".T", ".T")
    browser.command("Target.closeTarget", {"targetId": other})
    assert [marked for *_, marked in cells] == list(range(12))


def test_a_refused_operation_says_what_norch_says(opened):
    browser = opened("strides")
    browser.run("const press = (name) => [...get('operations').children].find((b) => b.textContent === name).click();"
                "press('t.T'); press('t.view(12)');")  # fmt: skip
    with pytest.raises(RuntimeError) as error:
        norch.arange(12).view(3, 4).T.view(12)
    assert str(error.value) in browser.text("#refused")
    assert browser.text("#code") == "t = x.T"


def test_arrows_move_through_the_elements(opened):
    browser = opened("strides")
    browser.run("get('grid').querySelector('.cell').focus()")
    for key in ("Right", "Right", "Down", "Left", "Up", "Up"):
        browser.press(key)
    assert "t[0, 1]: 0 + 0·4 + 1·1 = place 1" in browser.text("#sum")
    browser.press("Down")
    assert "bytes 20 to 23" in browser.text("#sum")


# ---- Backward --------------------------------------------------------------------------------------------------------

SHOWN = """
const words = (e) => e.textContent.replace(/^value|^grad/, "").replaceAll("\\u2212", "-").trim().split(/\\s+/);
const numbers = (e) => words(e).map(Number);
return Object.entries(nodes).map(([name, node]) => [name, node.values.map(numbers), node.gradients.map(numbers)]);
"""


def test_the_last_step_shows_what_norch_computes(opened, scripts):
    backward = scripts("backward")
    browser = opened("backward")
    for number, (_, lines) in enumerate(backward.EXPRESSIONS.values()):
        namespace = {}
        for name, code in lines.items():
            leaf = code[0] == "["
            value = eval(code, {}, namespace)
            namespace[name] = norch.tensor(value, dtype=norch.float64, requires_grad=True) if leaf else value
        namespace[name].backward(norch.ones_like(namespace[name]))
        browser.run("get('expression').value = arguments[0]; get('expression').onchange({target: get('expression')});"
                    "show(1e9)", number)  # fmt: skip
        shown = browser.run(SHOWN)
        assert [name for name, *_ in shown] == list(lines)
        for name, *both in shown:
            tensor = namespace[name]
            for numbers, expected in zip(both, (tensor, tensor.grad)):
                flat = [value for row in numbers for value in row]
                assert flat == pytest.approx(expected.flatten().tolist(), rel=1e-3, abs=1e-9), name


def test_steps_go_forth_and_back(opened):
    browser = opened("backward")
    states = [browser.run(SHOWN)]
    count = browser.run("return current.steps.length")
    for _ in range(count - 1):
        browser.press("Right")
        states.append(browser.run(SHOWN))
    assert all(a != b for a, b in zip(states[:-2], states[1:-1])) or count < 4
    assert browser.run("return get('next').disabled")
    for state in reversed(states[:-1]):
        browser.press("Left")
        assert browser.run(SHOWN) == state
    browser.click("#next")
    assert browser.run(SHOWN) == states[1] and browser.text("#count") == f"2 of {count}"


def test_a_shared_node_waits_and_a_broadcast_is_summed(opened):
    browser = opened("backward")
    said = browser.run("return DATA.map((e) => e.steps.flatMap((s) => s.says).join(' | '))")
    assert "with what was there that makes 13" in said[0]
    assert "summed to the shape [2]: [0, 16]" in said[2]


# ---- sin² ------------------------------------------------------------------------------------------------------------


def losses_of(browser):
    return browser.run("return losses")


def test_the_article_s_ten_losses(opened):
    browser = opened("sin2")
    browser.click("#ten")
    log = re.findall(r"loss ([\d.]+)", browser.text("#log"))
    assert log == "1.7035 0.7193 0.3068 0.1742 0.1342 0.1232 0.1220 0.1241 0.1270 0.1297".split()


SETTINGS = [
    (1, 0.01, 0.0, False),
    (5, 0.003, 0.5, False),
    (10, 0.001, 0.9, False),
    (16, 0.002, 0.0, False),
    (32, 0.01, 0.25, True),
]
SET = """
const [hidden, lr, momentum, spread] = arguments, slider = get("lr");
get("hidden").value = HIDDEN.indexOf(hidden);
get("spread").checked = spread;
restart();
for (slider.value = 0; Math.abs(rate() - lr) > 1e-9 && slider.value < 24; slider.value++);
get("momentum").value = 20 * momentum;
"""


@pytest.mark.parametrize("hidden, lr, momentum, spread", SETTINGS)
def test_it_learns_as_norch_learns(opened, scripts, hidden, lr, momentum, spread):
    sin2 = scripts("sin2")
    browser = opened("sin2")
    browser.run(SET, hidden, lr, momentum, spread)
    browser.click("#ten")
    model = sin2.model(hidden, spread)
    expected = sin2.example.train(model, norch.optim.SGD(model.parameters(), lr=lr, momentum=momentum), 10)
    assert losses_of(browser) == pytest.approx([float(loss) for loss in expected], rel=2e-3, abs=1e-6)


def test_training_moves_and_stops(opened):
    browser = opened("sin2")
    browser.click("#run")
    assert browser.run("return new Promise((done) => setTimeout(() => done(losses.length), 400))") > 2
    assert browser.text("#run") == "Pause"
    browser.click("#run")
    count = len(losses_of(browser))
    assert browser.run("return new Promise((done) => setTimeout(() => done(losses.length), 200))") == count


def test_whoever_wants_no_motion_gets_none(opened):
    browser = opened("sin2", reduced=True)
    browser.click("#run")
    assert len(losses_of(browser)) == 200 and browser.text("#run") == "Train"


def test_what_diverges_says_so(opened):
    browser = opened("sin2")
    browser.run(SET + "train(200)", 32, 1, 0.95, True)
    assert "diverged" in browser.text("#status")
    assert browser.run("return losses.length") < 200


def test_what_the_script_reads_back_is_what_the_page_holds(scripts):
    """The starts are float32 numbers, written so that they come back exactly."""
    sin2 = scripts("sin2")
    page = (PAGES / "sin2.html").read_text(encoding="utf-8")
    data = ast.literal_eval(re.search(r"^const DATA = (.*);$", page, re.MULTILINE)[1])
    for hidden in sin2.HIDDEN:
        for parameter, numbers in zip(sin2.model(hidden, False).parameters(), data["starts"][str(hidden)]["drawn"]):
            assert norch.Tensor(numbers).tolist() == parameter.flatten().tolist()
