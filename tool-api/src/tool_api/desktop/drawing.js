// Runs in a page of its own, which has no address and no network; answers {made} or {fault} for one drawing.
async (kind, source, number) => {
  const told = (error) => String(error?.message ?? error).slice(0, 300)
  if (kind !== 'diagram') {
    try {
      const options = { displayMode: kind === 'displayed', throwOnError: true, strict: false, trust: false }
      return { made: katex.renderToString(source, { ...options, output: 'html', maxSize: 20, maxExpand: 1000 }) }
    } catch (error) {
      return { fault: told(error) }
    }
  }
  try {
    if (!globalThis.isMermaidReady) {
      mermaid.initialize({
        startOnLoad: false,
        securityLevel: 'strict',
        htmlLabels: false,
        flowchart: { htmlLabels: false },
        theme: 'neutral',
        suppressErrorRendering: true,
        fontFamily: '"Liberation Sans", "Noto Sans CJK SC", "Noto Color Emoji", sans-serif',
      })
      globalThis.isMermaidReady = true
    }
    const { svg } = await mermaid.render(`drawing-${number}`, source)
    const drawn = new DOMParser().parseFromString(svg, 'text/html').querySelector('svg')
    const [, , width, height] = (drawn?.getAttribute('viewBox') ?? '').split(/[\s,]+/).map(Number)
    if (!drawn || !(width > 0) || !(height > 0)) return { fault: 'it is empty' }
    // As a picture it has a size of its own, not that of what stands around it.
    drawn.setAttribute('width', String(width))
    drawn.setAttribute('height', String(height))
    drawn.style.removeProperty('max-width')
    return { made: new XMLSerializer().serializeToString(drawn) }
  } catch (error) {
    return { fault: told(error) }
  }
}
