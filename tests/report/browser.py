"""A page laid out by a real browser: what sticks out, and which labels of a drawing lie on one another.

The page itself has no script. It is put in a frame of the width asked for, beside a script that measures it.
"""

from __future__ import annotations

import json
import re
import shutil
import subprocess
import tempfile
from html import escape, unescape
from pathlib import Path

CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
FLAGS = (
    "--headless",
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--virtual-time-budget=4000",
    "--dump-dom",
)
SCRIPT = """
function faults(doc, width) {
  const found = [];
  if (doc.documentElement.scrollWidth > width + 1) found.push("the page is wider than the window");
  for (const svg of doc.querySelectorAll("svg")) {
    const box = svg.getBoundingClientRect(), title = svg.querySelector("title").textContent;
    const scale = box.width / svg.viewBox.baseVal.width;
    const texts = [...svg.querySelectorAll("text")].filter(t => t.textContent.trim() && !t.classList.contains("star"));
    const boxes = texts.map(t => t.getBoundingClientRect());
    texts.forEach((t, i) => {
      const b = boxes[i];
      if (b.left < box.left - 1 || b.right > box.right + 1 || b.top < box.top - 1 || b.bottom > box.bottom + 1)
        found.push(title + ": outside: " + t.textContent);
      for (let j = 0; j < i; j++) {
        if (t.getAttribute("transform") && texts[j].getAttribute("transform")) continue;  // aslant, side by side
        const c = boxes[j];
        const w = Math.min(b.right, c.right) - Math.max(b.left, c.left);
        const h = Math.min(b.bottom, c.bottom) - Math.max(b.top, c.top);
        if (w > 1.5 * scale && h > 4 * scale) found.push(title + ": " + t.textContent + " on " + texts[j].textContent);
      }
    });
  }
  return found;
}
window.onload = () => {
  const frames = [...document.querySelectorAll("iframe")];
  const found = frames.map(frame => faults(frame.contentDocument, frame.clientWidth));
  document.querySelector("#found").textContent = JSON.stringify(found);
};
"""


def faults(page: str, *widths: int) -> list[list[str]]:
    """What is wrong with the layout of a page in windows of these widths."""
    assert CHROMIUM is not None
    bare = re.sub(r'<meta http-equiv="Content-Security-Policy"[^>]*>', "", page)
    inner = escape(bare, quote=True)
    frames = [f'<iframe style="border:0;width:{width}px;height:2000px" srcdoc="{inner}"></iframe>' for width in widths]
    wrapper = f'<!doctype html><body><pre id="found"></pre><script>{SCRIPT}</script>{"".join(frames)}</body>'
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "page.html"
        file.write_text(wrapper, encoding="utf-8")
        window = f"--window-size={max(widths) + 50},2200"
        command = [CHROMIUM, *FLAGS, f"--user-data-dir={folder}/profile", window, file.as_uri()]
        done = subprocess.run(command, capture_output=True, text=True, timeout=120, check=False)
    said = re.search(r'<pre id="found">(.*?)</pre>', done.stdout, flags=re.DOTALL)
    assert said and said.group(1), done.stderr[-2000:]
    found: list[list[str]] = json.loads(unescape(said.group(1)))
    return found
