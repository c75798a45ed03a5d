const KEPT = 60
const drawn = new Map<string, Promise<string>>()
let last: Promise<unknown> = Promise.resolve()
let made = 0

/**
 * The address of a picture of this diagram, drawn once. It is shown as a picture alone, so that nothing in it can run or
 * follow a link. Rejected where the diagram is wrong.
 */
export function diagramUrl(source: string, isDark: boolean): Promise<string> {
  const key = `${isDark ? 'dark' : 'light'}:${source}`
  const known = drawn.get(key)
  if (known) return known
  const drawing = last.then(() => draw(source, isDark))
  last = drawing.catch(() => undefined)
  if (drawn.size >= KEPT) drawn.delete(drawn.keys().next().value ?? '')
  drawn.set(key, drawing)
  return drawing
}

async function draw(source: string, isDark: boolean): Promise<string> {
  const { default: mermaid } = await import('mermaid')
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
