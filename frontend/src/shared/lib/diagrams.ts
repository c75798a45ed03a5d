import { idleMoment } from './idle'

const KEPT = 60
interface Diagram {
  readonly url: Promise<string>
  /** The same, once it is known; empty until then. */
  here: string
}
const drawn = new Map<string, Diagram>()
let last: Promise<unknown> = Promise.resolve()
let made = 0

const keyOf = (source: string, isDark: boolean): string => `${isDark ? 'dark' : 'light'}:${source}`

/** The address of a diagram that is drawn already; empty where it is not. */
export const drawnDiagram = (source: string, isDark: boolean): string => drawn.get(keyOf(source, isDark))?.here ?? ''

/**
 * The address of a picture of this diagram, drawn once, when the page has nothing else to do, and after those that were asked
 * for before. It is shown as a picture alone, so that nothing in it can run or follow a link. Rejected where the diagram is
 * wrong.
 */
export function diagramUrl(source: string, isDark: boolean): Promise<string> {
  const key = keyOf(source, isDark)
  const known = drawn.get(key)
  if (known) return known.url
  const url = last.then(() => draw(source, isDark))
  const diagram: Diagram = { url, here: '' }
  last = url.then(
    (address) => (diagram.here = address),
    () => undefined,
  )
  if (drawn.size >= KEPT) drawn.delete(drawn.keys().next().value ?? '')
  drawn.set(key, diagram)
  return url
}

async function draw(source: string, isDark: boolean): Promise<string> {
  await idleMoment()
  const { default: mermaid } = await import('mermaid')
  // Its code takes a while to be read, and each drawing too: a moment for each.
  await idleMoment()
  mermaid.initialize({
    startOnLoad: false,
    securityLevel: 'strict',
    suppressErrorRendering: true,
    htmlLabels: false,
    theme: isDark ? 'dark' : 'neutral',
    fontFamily: 'system-ui, sans-serif',
  })
  const { svg } = await mermaid.render(`diagram-${(made += 1)}`, source)
  return `data:image/svg+xml;charset=utf-8,${encodeURIComponent(sized(svg))}`
}

/** A picture has the size that its drawing has; as wide as its place, it would be as large as that. */
function sized(svg: string): string {
  const [, width, height] = /viewBox="[-\d.]+ [-\d.]+ ([\d.]+) ([\d.]+)"/.exec(svg) ?? []
  if (!width || !height) return svg
  return svg
    .replace(/<svg /, `<svg height="${Math.ceil(Number(height))}" `)
    .replace(/width="100%"/, `width="${Math.ceil(Number(width))}"`)
}
