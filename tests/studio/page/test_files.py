"""Files of every kind: what the page shows of them, and that nothing of them is lost there."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from makespan import read_problem
from makespan.core.errors import InputError
from makespan.core.problem import Problem
from makespan.flow.files.files import as_dict
from makespan.flow.serialize import as_json
from tests.thorough import few

ROOT = Path(__file__).parents[3]
ENDINGS = (".toml", ".json", ".stg", ".dot", ".graphml", ".gxl")
THROUGH = """async (text) => {
  const [{ post }, { put, state }, { toml }] = await Promise.all(
    ['api', 'state', 'toml'].map((name) => import(`/studio/${name}.js`)));
  const read = async (problem) => (await post('/api/problem', { problem })).problem;
  put(await read(text), 'new');
  const shown = document.getElementById('form').textContent;
  const [first, file] = [await read(toml(state.problem)), document.getElementById('toml').value];
  const fields = [...document.querySelectorAll('#form input:not([type])')];
  for (const field of document.querySelectorAll('#form input[type=text]')) fields.push(field);
  for (const field of fields) field.dispatchEvent(new InputEvent('input', { bubbles: true }));
  const inserted = { shown, first, same: file === toml(state.problem), count: fields.length };
  return { ...inserted, typed: await read(toml(state.problem)) };
}"""


def problems() -> dict[str, Problem]:
    """Return every problem of the examples and of the corpus, by its file."""
    found = {}
    for folder in ("examples", "tests/corpus"):
        for path in sorted((ROOT / folder).rglob("*")):
            if path.suffix in ENDINGS and path.name != "read.json":
                try:
                    found[str(path.relative_to(ROOT))] = read_problem(path)
                except InputError:  # a result, a schedule, an experiment
                    continue
    return found


PROBLEMS = problems()


@pytest.mark.parametrize("file", few(PROBLEMS, 1))
def test_through_the_form_and_back(browser, file):
    """As it is shown, and as it is after the same was typed into every field again."""
    text = (ROOT / file).read_text("utf-8")
    if "samples" in text:
        browser.do(lambda page: page.fill("#toml", text))
        told = "document.getElementById('mistakes').textContent"
        browser.wait(f"{told}.includes('files are neither read nor written here')")
        return
    found = browser.do(lambda page: page.evaluate(THROUGH, text))
    expected = json.loads(as_json(as_dict(PROBLEMS[file])))
    assert found["first"] == expected
    assert found["typed"] == expected
    assert found["shown"]
