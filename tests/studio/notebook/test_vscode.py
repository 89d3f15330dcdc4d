"""The widget as VS Code holds it: in its sandbox, under a content policy that allows little.

VS Code itself is not run here. What its notebooks need of a widget is: a script in one text, no
requests, no files, and state in traits alone.
"""

from __future__ import annotations

import json
from functools import partial

import pytest

import makespan

anywidget = pytest.importorskip("anywidget")
pytest.importorskip("playwright")

from tests.browser import Browser, chromium  # noqa: E402

TASKS = makespan.IndependentTasks(2, [3, 3, 2, 2, 2])
HOME = "https://board.vscode-cdn.net/"
POLICY = (
    "default-src 'none'; script-src 'self' https://*.vscode-cdn.net blob: 'unsafe-inline' "
    "'unsafe-eval'; style-src 'self' https://*.vscode-cdn.net 'unsafe-inline'; "
    "img-src 'self' https: http: data:; font-src 'self' https:; connect-src https:; "
    "child-src https: data:"
)
"""Of notebooks in VS Code 1.100 with ``notebook.experimental.enableCsp``, else there is none; and
blobs, by which anywidget imports every widget.
"""
SANDBOX = "allow-same-origin allow-pointer-lock allow-scripts allow-downloads allow-forms"
"""Of its webviews."""
PAGE = f"""<!DOCTYPE html><meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="{POLICY}">
<body><div id="cell"></div><script>
const heard = [];
const model = {{
  state: null,
  get: (name) => model.state[name],
  set: (name, value) => (model.state[name] = value),
  save_changes() {{}},
  on: (name, act) => heard.push(act),
  send: (content) => ask(content).then((answer) => heard.forEach((act) => act(answer))),
}};
async function show(script, state) {{
  model.state = state;
  const url = URL.createObjectURL(new Blob([script], {{ type: "text/javascript" }}));
  const {{ default: widget }} = await import(url);
  widget.render({{ model, el: document.getElementById("cell") }});
}}
</script></body>"""


def served(text, route):
    route.fulfill(body=text, content_type="text/html")


@pytest.mark.thorough
def test_a_board_works_within_the_content_policy_of_vs_code():
    """By keys; what is placed becomes a result, and the referee is asked through the model."""
    if chromium() is None:
        pytest.skip("there is no Chromium")
    board = makespan.board(TASKS)
    answers = []
    board.send = answers.append

    def ask(content):
        board._answer(board, content, [])
        return answers.pop()

    state = {name: board.get_state()[name] for name in ("_page", "_stated", "_shown", "_placed")}
    outer = f'<!DOCTYPE html><iframe name="cell" sandbox="{SANDBOX}" src="{HOME}cell.html"'
    with Browser() as browser:

        def opened(page):
            page.expose_function("ask", ask)
            page.route(HOME, partial(served, f'{outer} style="width: 100%; height: 800px">'))
            page.route(f"{HOME}cell.html", partial(served, PAGE))
            page.goto(HOME)
            page.frame("cell").evaluate(
                "([script, state]) => show(script, state)", [board._esm, state]
            )

        def inside(act):
            place = "iframe[title=Board]"
            return browser.do(lambda page: act(page.frame("cell").frame_locator(place)))

        browser.do(opened)
        inside(lambda frame: frame.locator('.board [data-item="0"]').wait_for())
        for item, machine in enumerate("12212"):
            inside(lambda frame, i=item: frame.locator(f'.board [data-item="{i}"]').focus())
            browser.do(lambda page, m=machine: page.keyboard.press(m))
        accepted = "The referee accepts your plan. It ends at 7 s."
        inside(lambda frame: frame.get_by_text(accepted).wait_for())
        placed = browser.do(lambda page: page.frame("cell").evaluate("model.state._placed"))
        board._placed = json.loads(json.dumps(placed))
        assert board.result.makespan == 7.0
        assert [each for each in browser.errors if "escape its sandbox" not in each] == []
        assert {url for url in browser.requests if not url.startswith("blob:")} == {
            HOME, f"{HOME}cell.html",
        }  # fmt: skip
