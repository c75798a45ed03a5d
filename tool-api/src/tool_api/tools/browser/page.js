// Runs in an isolated world of each page: the page's own scripts neither see nor change it.
(() => {
  const INTERACTIVE = [
    "a[href]", "button", "input:not([type=hidden])", "select", "textarea", "summary", "label[for]", "option",
    "[contenteditable='']", "[contenteditable=true]", "[onclick]", "[tabindex]:not([tabindex='-1'])",
    ...["button", "link", "checkbox", "radio", "tab", "menuitem", "option", "switch", "combobox", "textbox",
        "searchbox", "slider", "treeitem"].map((role) => `[role=${role}]`),
  ].join(",");
  let elements = [];
  let watching = null;

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

  const NO_TEXT = ["checkbox", "radio", "button", "submit", "reset", "image", "file", "hidden"];

  const takesText = (element) => Boolean(element?.isContentEditable || element?.tagName === "TEXTAREA"
    || element?.tagName === "SELECT" || (element?.tagName === "INPUT" && !NO_TEXT.includes(element.type)));

  const focused = () => {
    let element = document.activeElement;
    for (;;) {
      let inner = element?.shadowRoot?.activeElement;
      try { inner ??= element?.tagName === "IFRAME" ? element.contentDocument?.activeElement : null; } catch { inner = null; }
      if (!inner) return element;
      element = inner;
    }
  };

  const rootsOf = function* (document) {
    yield document;
    for (const element of walk(document)) {
      if (element.shadowRoot) yield element.shadowRoot;
      if (element.tagName !== "IFRAME") continue;
      let inner = null;
      try { inner = element.contentDocument; } catch { inner = null; }
      if (inner) yield inner;
    }
  };

  // The frames whose pages can be looked at, and what they show.
  const framesOf = (document) => {
    const frames = [];
    for (const element of walk(document)) {
      if (element.tagName === "IFRAME" && element.contentDocument) frames.push([element, element.contentDocument]);
    }
    return frames;
  };

  // The address of what is in a frame now in the place of another page; empty where it can't be known.
  const movedFrame = (frames) => {
    const moved = frames.find(([element, before]) => element.isConnected && element.contentDocument !== before)?.[0];
    return moved ? moved.contentDocument?.location.href ?? "" : null;
  };

  // What the browser says of fields, where the page does not say it in its own way.
  const refusedFields = (events) => {
    const fields = new Set(events.filter((event) => !event.defaultPrevented).map((event) => event.target));
    return [...fields].filter((field) => field.isConnected && field.validity && !field.validity.valid).slice(0, 5)
      .map((field) => [labelOf(field), clean(field.validationMessage, 200)]);
  };

  // A point of the element that is not covered by another one, else its middle and what covers that.
  const pointOf = (element) => {
    const [dx, dy] = offsetOf(element);
    const boxes = [...element.getClientRects()].filter((box) => box.width > 0 && box.height > 0);
    const whole = element.getBoundingClientRect();
    const places = [[0.5, 0.5], [0.25, 0.5], [0.75, 0.5], [0.5, 0.25], [0.5, 0.75]];
    let covered = null;
    for (const box of [whole, ...boxes.slice(0, 3)]) {
      for (const [right, down] of places) {
        const [x, y] = [box.left + box.width * right, box.top + box.height * down];
        const covering = coveringAt(element, x, y);
        if (covering === null) return { x: x + dx, y: y + dy, covered: null };
        covered ??= covering;
      }
    }
    return { x: whole.left + whole.width / 2 + dx, y: whole.top + whole.height / 2 + dy, covered: covered || null };
  };

  const coveringAt = (element, x, y) => {
    const root = element.getRootNode();
    const found = root.elementFromPoint ? root.elementFromPoint(x, y) : null;
    if (!found || found === element || element.contains(found) || found.contains(element)) return null;
    const label = found.closest("label");
    if (label && (label.control === element || label.contains(element)) || element.control === found) return null;
    if (root.host && (found === root.host || found.contains(root.host))) return null;
    return `<${found.tagName.toLowerCase()}> ${labelOf(found)}`.trim();
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
        width: innerWidth, height: innerHeight, isPdf: document.contentType === "application/pdf",
        above: Math.round(scroller?.scrollTop || 0),
        below: Math.max(0, Math.round((scroller?.scrollHeight || 0) - innerHeight - (scroller?.scrollTop || 0))),
      };
    },

    locate(index) {
      const element = elements[index];
      if (!element || !element.isConnected) return null;
      element.scrollIntoView({ block: "center", inline: "center", behavior: "instant" });
      const box = boxOf(element);
      const visible = box.width > 0 && box.height > 0;
      const point = visible ? pointOf(element) : { x: box.left, y: box.top, covered: null };
      return {
        x: Math.min(Math.max(point.x, 0), innerWidth - 1), y: Math.min(Math.max(point.y, 0), innerHeight - 1),
        tag: element.tagName.toLowerCase(), label: labelOf(element), visible, covered: point.covered,
        disabled: Element.prototype.matches.call(element, ":disabled"),
      };
    },

    // Begins to note whether anything of the page changes.
    watch(scrolls) {
      watching?.end();
      const ends = [];
      const now = { changed: false, frames: framesOf(document), refused: [] };
      const observer = new MutationObserver(() => { now.changed = true; });
      const what = { subtree: true, childList: true, attributes: true, characterData: true };
      const listen = (root, names, heard) => {
        for (const name of names) root.addEventListener(name, heard, true);
        ends.push(() => names.forEach((name) => root.removeEventListener(name, heard, true)));
      };
      for (const root of rootsOf(document)) {
        observer.observe(root, what);
        listen(root, ["input", "change", "toggle", ...(scrolls ? ["scroll"] : [])], () => { now.changed = true; });
        // To have the focus is what a click on a field is for.
        listen(root, ["focusin", "focusout"], (event) => { now.changed ||= takesText(event.target); });
        // A form is not sent while one of its fields has what it does not take.
        listen(root, ["invalid"], (event) => { if (now.refused.length < 20) now.refused.push(event); });
      }
      ends.push(() => observer.disconnect());
      watching = { now, end: () => ends.forEach((end) => end()) };
      return { url: location.href };
    },

    watched() {
      return {
        url: location.href, changed: watching?.now.changed ?? true, isNew: watching === null,
        frame: watching && movedFrame(watching.now.frames), refused: watching ? refusedFields(watching.now.refused) : [],
        error: location.protocol === "chrome-error:"
          ? clean(document.querySelector(".error-code")?.textContent, 60) : null,
      };
    },

    // What a field is, and why it takes no text where it does not. Without an index, of what has the focus.
    field(index) {
      const element = index === null ? focused() : elements[index];
      if (!element) return { refusal: "is nothing that takes text: give an index" };
      const tag = element.tagName;
      if (tag === "IFRAME" || index === null && element.shadowRoot) return {};
      if (index === null && !takesText(element)) {
        return element === element.ownerDocument.body || NO_TEXT.includes(element.type)
          ? { refusal: "is nothing that takes text: give an index" } : {};
      }
      if (Element.prototype.matches.call(element, ":disabled")) return { refusal: "is disabled" };
      if (tag === "INPUT" && NO_TEXT.includes(element.type)) {
        return { refusal: `is a field of the type ${element.type}, which takes no text: click it` };
      }
      if (["INPUT", "TEXTAREA"].includes(tag) && element.readOnly) return { refusal: "can only be read" };
      return { type: tag === "INPUT" ? element.type : "text" };
    },

    setValue(index, text) {
      const element = index === null ? focused() : elements[index];
      element.focus();
      const view = element.ownerDocument.defaultView;
      Object.getOwnPropertyDescriptor(view.HTMLInputElement.prototype, "value").set.call(element, text.trim());
      for (const name of ["input", "change"]) element.dispatchEvent(new Event(name, { bubbles: true }));
      return element.value;
    },

    // Whether the field has what was typed; null where that can't be known.
    typed(index, text, clear) {
      const element = index === null ? focused() : elements[index];
      if (!element?.isConnected || element.tagName === "IFRAME") return null;
      const plain = (given) => given.replace(/\r\n?/g, "\n").replace(/\u00a0/g, " ");
      const isField = ["INPUT", "TEXTAREA"].includes(element.tagName);
      if (!isField && !element.isContentEditable) return null;
      const value = plain(isField ? element.value : element.innerText);
      const squeezed = (given) => given.replace(/\s+/g, "");
      const wanted = plain(element.tagName === "INPUT" ? text.replace(/[\r\n]/g, "") : text);
      const same = isField ? (clear && index !== null ? value === wanted : value.includes(wanted))
        : squeezed(value).includes(squeezed(wanted));
      const secret = element.type === "password";
      return {
        same, secret, length: value.length, value: secret ? null : value.slice(0, 1000),
        type: element.type ?? "", limit: element.maxLength ?? -1,
      };
    },

    chosen(index) {
      const element = elements[index];
      return element?.isConnected ? [...element.selectedOptions].map((one) => clean(one.text, 100)) : null;
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

    filesOf: (index) => [...(elements[index]?.files ?? [])].map((file) => file.name),

    fileField: (index) => (elements[index]?.isConnected
      ? elements[index].tagName === "INPUT" && elements[index].type === "file" : null),

    // Where a link leads that a server answers; others, as of scripts, are to be clicked.
    linkOf(index) {
      const href = elements[index]?.closest("a[href]")?.href;
      return href && /^(https?|file):/.test(href) && !href.startsWith(location.href.split("#")[0] + "#") ? href : null;
    },

    // Only says what would be chosen, unless it `does`.
    choose(index, texts, does = false) {
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
      if (!does) return { chosen: chosen.map((one) => clean(one.text, 100)) };
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
