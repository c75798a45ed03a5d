import DOMPurify from 'dompurify'
import { shallowRef } from 'vue'

type Katex = (typeof import('katex'))['default']
/** Loaded with its fonts when a formula is there to be shown; null until then. */
const katex = shallowRef<Katex | null>(null)
let loading: Promise<void> | null = null

/** Whether formulas can be set. Where they can't yet, that is seen to, and whoever asked in an effect is told. */
export function isMathReady(): boolean {
  loading ??= load().catch(() => {
    // Tried again with the next formula; until then its source is shown.
    loading = null
  })
  return katex.value !== null
}

async function load(): Promise<void> {
  const [library] = await Promise.all([import('katex'), import('katex/dist/katex.min.css')])
  katex.value = library.default
}

/** Safe HTML of a formula, with MathML for who does not see it; null where it is no TeX that can be set. */
export function mathHtml(tex: string, isDisplayed: boolean): string | null {
  try {
    const options = { displayMode: isDisplayed, throwOnError: true, strict: false, trust: false, maxSize: 20 }
    const html = katex.value?.renderToString(tex, options)
    return html === undefined
      ? null
      : DOMPurify.sanitize(html, {
          USE_PROFILES: { html: true, mathMl: true, svg: true },
          ADD_TAGS: ['semantics', 'annotation'],
        })
  } catch {
    return null
  }
}
