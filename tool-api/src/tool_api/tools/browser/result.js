// Says a value in JSON within a bound, whatever it refers to.
function (limit) {
  const seen = new WeakSet();
  let room = limit;
  const plain = (value) => {
    if (typeof value === "bigint") return `${value}n`;
    if (typeof value === "function") return `[function ${value.name}]`;
    if (typeof value === "symbol") return String(value);
    if (typeof value !== "object" || value === null) return value;
    if (value instanceof Map) return { Map: [...value.entries()].slice(0, 1000) };
    if (value instanceof Set) return { Set: [...value.values()].slice(0, 1000) };
    if (value instanceof Error) return { error: String(value.stack || value).slice(0, 2000) };
    if (value instanceof Node) return value instanceof Element ? value.outerHTML.slice(0, 500) : value.nodeName;
    if (value instanceof NodeList || value instanceof HTMLCollection) return [...value].slice(0, 1000);
    return value;
  };
  const text = JSON.stringify(this, (_, given) => {
    if (room <= 0) return undefined;
    const value = plain(given);
    if (typeof value === "object" && value !== null) {
      if (seen.has(value)) return "[seen above]";
      seen.add(value);
    }
    room -= typeof value === "string" ? value.length + 8 : 8;
    return typeof value === "string" ? value.slice(0, limit) : value;
  });
  return String(text).slice(0, limit) + (room <= 0 ? "…" : "");
}
