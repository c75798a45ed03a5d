/** Nothing is loaded from anywhere, whatever the document asks for; what it brings along itself may be shown. */
const POLICY = "default-src 'none'; style-src 'unsafe-inline'; img-src data:; font-src data:; media-src data:"
const BEGINNING = `<!doctype html><meta http-equiv="Content-Security-Policy" content="${POLICY}">`
/**
 * Where the frame's sandbox and policy do not reach: hints that look up or open connections, and another base. A
 * template holds what is not looked through here, and may be made a part of the page by the frame.
 */
const REACHES_OUT = 'script, link, meta, base, iframe, frame, object, embed, template'
/** What is no markup in one place and would be in another. */
const HIDES_MARKUP = 'noembed, noframes, xmp, plaintext'
const ADDRESSES = ['href', 'xlink:href', 'ping']
/** Written anew, a document may be parsed to another tree; an honest one is settled after one round or two. */
const ROUNDS = 8

/**
 * An HTML document for the `srcdoc` of a frame with an empty `sandbox`, in which no script runs, no form is sent, nothing
 * is opened and nobody is led elsewhere: a link would replace the preview by an error, also one that an animation of SVG
 * gives to an element that has none. Null for a document that becomes another one each time it is parsed.
 */
export function inertHtml(source: string): string | null {
  let document = parse(source)
  takeOut(document)
  for (let round = 0; round < ROUNDS; round++) {
    const html = BEGINNING + document.documentElement.outerHTML
    // As the frame will see it: our own policy, and nothing else that would have to go.
    document = parse(html)
    document.querySelector('meta')?.remove()
    if (!takeOut(document)) return html
  }
  return null
}

function parse(html: string): Document {
  return new DOMParser().parseFromString(html, 'text/html')
}

/** Whether there was anything. */
function takeOut(document: Document): boolean {
  let wasFound = false
  for (const element of document.querySelectorAll(`${REACHES_OUT}, ${HIDES_MARKUP}`)) {
    element.remove()
    wasFound = true
  }
  for (const element of document.querySelectorAll('a, area, math, math *')) {
    for (const name of ADDRESSES) {
      if (!element.hasAttribute(name)) continue
      element.removeAttribute(name)
      wasFound = true
    }
  }
  for (const element of document.querySelectorAll('[attributeName]')) {
    if (!/href\s*$/i.test(element.getAttribute('attributeName') ?? '')) continue
    element.remove()
    wasFound = true
  }
  return wasFound
}
