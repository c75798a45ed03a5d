/** Nothing is loaded from anywhere, whatever the document asks for; what it brings along itself may be shown. */
const POLICY = "default-src 'none'; style-src 'unsafe-inline'; img-src data:; font-src data:; media-src data:"
/**
 * Where the frame's sandbox and policy do not reach: hints that look up or open connections, and another base. A
 * template holds what is not looked through here, and may be made a part of the page by the frame.
 */
const REACHES_OUT = 'script, link, meta, base, iframe, frame, object, embed, template'

/**
 * An HTML document for the `srcdoc` of a frame with an empty `sandbox`, in which no script runs, no form is sent, nothing
 * is opened and nobody is led elsewhere: a link would replace the preview by an error, also one that an animation of SVG
 * gives to an element that has none.
 */
export function inertHtml(source: string): string {
  const document = new DOMParser().parseFromString(source, 'text/html')
  for (const element of document.querySelectorAll(REACHES_OUT)) element.remove()
  for (const element of document.querySelectorAll('a, area')) {
    for (const name of ['href', 'xlink:href', 'ping']) element.removeAttribute(name)
  }
  for (const element of document.querySelectorAll('[attributeName]')) {
    if (/href\s*$/i.test(element.getAttribute('attributeName') ?? '')) element.remove()
  }
  return `<!doctype html><meta http-equiv="Content-Security-Policy" content="${POLICY}">${document.documentElement.outerHTML}`
}
