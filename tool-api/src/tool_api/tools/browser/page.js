// Runs in an isolated world of each page: the page's own scripts neither see nor change it.
(() => {
  const INTERACTIVE = [
    "a[href]", "button", "input:not([type=hidden])", "select", "textarea", "summary", "label[for]", "option",
    "[contenteditable='']", "[contenteditable=true]", "[onclick]", "[tabindex]:not([tabindex='-1'])",
    ...["button", "link", "checkbox", "radio", "tab", "menuitem", "option", "switch", "combobox", "textbox",
        "searchbox", "slider", "treeitem"].map((role) => `[role=${role}]`),
  ].join(",");
  let elements = [];

  const clean = (text, limit) => (text || "").replace(/\s+/g, " ").trim().slice(0, limit);

  const labelOf = (element) => {
    const by = element.getAttribute("aria-labelledby");
    const referred = by && by.split(/\s+/).map((id) => element.ownerDocument.getElementById(id)?.textContent).join(" ");
    return clean(
      element.getAttribute("aria-label") || referred || element.labels?.[0]?.innerText || element.innerText ||
      element.getAttribute("placeholder") || element.getAttribute("title") || element.getAttribute("alt") ||
      element.querySelector?.("img[alt]")?.getAttribute("alt") || element.getAttribute("name"), 100);
  };

  const offsetOf = (element) => {
    let [x, y] = [0, 0];
    for (let view = element.ownerDocument.defaultView; view && view.frameElement; view = view.parent) {
      const box = view.frameElement.getBoundingClientRect();
      [x, y] = [x + box.left, y + box.top];
    }
    return [x, y];
  };

  const boxOf = (element) => {
    const box = element.getBoundingClientRect();
    const [x, y] = offsetOf(element);
    return { left: box.left + x, top: box.top + y, width: box.width, height: box.height };
  };

  const shown = (element) => {
    const box = boxOf(element);
    if (box.width < 2 || box.height < 2) return null;
    if (box.left >= innerWidth || box.top >= innerHeight) return null;
    if (box.left + box.width <= 0 || box.top + box.height <= 0) return null;
    const visible = element.checkVisibility
      ? element.checkVisibility({ visibilityProperty: true, opacityProperty: false }) : true;
    return visible ? box : null;
  };

  const walk = function* (root) {
    for (const element of root.querySelectorAll("*")) {
      yield element;
      if (element.shadowRoot) yield* walk(element.shadowRoot);
      if (element.tagName === "IFRAME") {
        let inner = null;
        try { inner = element.contentDocument; } catch { inner = null; }
        if (inner) yield* walk(inner);
      }
    }
  };

  const describe = (element, index) => {
    const tag = element.tagName.toLowerCase();
    const role = element.getAttribute("role");
    const type = tag === "input" ? element.type : null;
    const parts = [`[${index}]`, `<${tag}${type ? ` ${type}` : ""}${role ? ` role=${role}` : ""}>`, labelOf(element)];
    if (tag === "select") {
      parts.push(`value=${JSON.stringify(clean(element.selectedOptions[0]?.text, 60))}`);
      parts.push(`options=${JSON.stringify([...element.options].slice(0, 12).map((one) => clean(one.text, 30)))}`);
    } else if (type === "password") {
      if (element.value) parts.push("(filled)");
    } else if (["input", "textarea"].includes(tag) && element.value && !["checkbox", "radio"].includes(type)) {
      parts.push(`value=${JSON.stringify(clean(element.value, 80))}`);
    }
    if (element.checked || element.getAttribute("aria-checked") === "true") parts.push("(checked)");
    if (element.disabled || element.getAttribute("aria-disabled") === "true") parts.push("(disabled)");
    return parts.filter(Boolean).join(" ");
  };

  return {
    view(limits) {
      elements = [];
      const lines = [];
      let left = 0;
      let foreign = 0;
      for (const element of walk(document)) {
        // By the prototype: a form's fields stand in the place of its own methods.
        const matches = (selector) => Element.prototype.matches.call(element, selector);
        if (matches("iframe") && !element.contentDocument && shown(element)) foreign += 1;
        if (!matches(INTERACTIVE) || (matches("option") && element.closest("select"))) continue;
        // Fields for files are mostly hidden behind something nicer.
        if (!matches("input[type=file]") && !shown(element)) continue;
        if (elements.length >= limits.elements) { left += 1; continue; }
        lines.push(describe(element, elements.length));
        elements.push(element);
      }
      const text = (document.body?.innerText || "").replace(/[ \t]+/g, " ").replace(/\n\s*\n+/g, "\n\n").trim();
      const scroller = document.scrollingElement;
      return {
        url: location.href.slice(0, 2000), title: String(document.title).slice(0, 300), lines, left, foreign,
        text: text.slice(0, limits.text), textLength: text.length,
        width: innerWidth, height: innerHeight,
        above: Math.round(scroller?.scrollTop || 0),
        below: Math.max(0, Math.round((scroller?.scrollHeight || 0) - innerHeight - (scroller?.scrollTop || 0))),
      };
    },

    locate(index) {
      const element = elements[index];
      if (!element || !element.isConnected) return null;
      element.scrollIntoView({ block: "center", inline: "center", behavior: "instant" });
      const box = boxOf(element);
      const [x, y] = [box.left + box.width / 2, box.top + box.height / 2];
      return {
        x: Math.min(Math.max(x, 0), innerWidth - 1), y: Math.min(Math.max(y, 0), innerHeight - 1),
        tag: element.tagName.toLowerCase(), label: labelOf(element), disabled: Boolean(element.disabled),
        visible: box.width > 0 && box.height > 0,
      };
    },

    focus(index, clear) {
      const element = elements[index];
      element.focus();
      if (clear && typeof element.select === "function") element.select();
      else if (clear && element.isContentEditable) element.ownerDocument.getSelection().selectAllChildren(element);
      const active = element.getRootNode().activeElement;
      return active === element || element.contains(active);
    },

    element: (index) => elements[index],

    fileField: (index) => (elements[index]?.isConnected
      ? elements[index].tagName === "INPUT" && elements[index].type === "file" : null),

    // Where a link leads that a server answers; others, as of scripts, are to be clicked.
    linkOf(index) {
      const href = elements[index]?.closest("a[href]")?.href;
      return href && /^(https?|file):/.test(href) && !href.startsWith(location.href.split("#")[0] + "#") ? href : null;
    },

    choose(index, texts) {
      const element = elements[index];
      if (!(element instanceof element.ownerDocument.defaultView.HTMLSelectElement)) return null;
      if (texts.length > 1 && !element.multiple) return { single: true };
      const options = [...element.options].filter((one) => !one.disabled && !one.closest("optgroup")?.disabled);
      const chosen = [];
      for (const text of texts) {
        const wanted = text.trim().toLowerCase();
        const found =
          options.find((one) => one.text.trim().toLowerCase() === wanted || one.value.toLowerCase() === wanted)
          || (wanted && options.find((one) => one.text.toLowerCase().includes(wanted)));
        if (!found) return { missing: text, options: options.slice(0, 40).map((one) => clean(one.text, 60)) };
        chosen.push(found);
      }
      for (const one of element.options) one.selected = chosen.includes(one);
      for (const name of ["input", "change"]) element.dispatchEvent(new Event(name, { bubbles: true }));
      return { chosen: chosen.map((one) => clean(one.text, 100)) };
    },

    async settled(limitMs) {
      const deadline = performance.now() + limitMs;
      const pause = () => new Promise((resolve) => { setTimeout(resolve, 40); });
      let before = null;
      let same = 0;
      while (performance.now() < deadline && same < 2) {
        const now = `${document.readyState === "complete"} ${scrollX} ${scrollY} ${location.href}`;
        same = now === before && document.readyState === "complete" ? same + 1 : 0;
        before = now;
        await pause();
      }
      return document.readyState;
    },
  };
})()
