// What the page does beyond its forms: the editor, the price as one types, sliders, copying. Without it, forms still ask.
"use strict";
(() => {
  const nonce = document.currentScript.nonce;
  const policy = window.trustedTypes
    ? window.trustedTypes.createPolicy("tacit", { createHTML: (text) => text })
    : { createHTML: (text) => text };
  const $ = (selector) => document.querySelector(selector);

  // A form whose picture follows what is typed: its own server renders it.
  const live = (form) => {
    const target = $(form.dataset.live);
    let waiting = 0;
    let turn = 0;
    const show = async () => {
      const mine = ++turn;
      const fields = new URLSearchParams(new FormData(form));
      try {
        const reply = await fetch(form.dataset.from, {
          method: "POST",
          body: fields,
          headers: { "X-Fragment": "1" },
        });
        const text = await reply.text();
        if (mine === turn && reply.ok) {
          target.innerHTML = policy.createHTML(text);
          slider();
        }
      } catch {
        // the service is not there: the form says so when it is sent
      }
    };
    const soon = () => {
      clearTimeout(waiting);
      waiting = setTimeout(show, 250);
    };
    form.addEventListener("input", soon);
    return soon;
  };

  // The curve of errors is dragged: the price follows.
  const slider = () => {
    const drag = $("#drag");
    const price = $("#price");
    if (!drag || !price || drag.dataset.bound) return;
    drag.dataset.bound = "1";
    drag.addEventListener("input", () => {
      price.value = String(Number((Number(drag.dataset.main) * 2 ** Number(drag.value)).toPrecision(2)));
    });
    drag.addEventListener("change", () => price.form.dispatchEvent(new Event("input")));
  };

  for (const form of document.querySelectorAll("form[data-live]")) {
    const changed = live(form);
    const area = form.querySelector("textarea[data-words]");
    if (area && window.tacitEditor) {
      const listed = JSON.parse(area.dataset.words).map(([label, type, detail]) => ({ label, type, detail }));
      const editor = window.tacitEditor(area, listed, nonce, changed);
      for (const one of document.querySelectorAll("button[data-sql]")) {
        one.addEventListener("click", () => {
          editor.set(one.dataset.sql);
          editor.focus();
        });
      }
    }
    if (area && area.value.trim() && !$(form.dataset.live).firstChild) changed();
  }

  for (const one of document.querySelectorAll("button[data-copy]")) {
    one.hidden = false;
    one.addEventListener("click", async () => {
      await navigator.clipboard.writeText($(one.dataset.copy).textContent);
      one.textContent = "Copied";
    });
  }
  for (const one of document.querySelectorAll("button[data-sql]")) one.hidden = false;
  slider();
})();
