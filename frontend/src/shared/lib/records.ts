import {
  inject,
  nextTick,
  onMounted,
  provide,
  shallowRef,
  watch,
  type Component,
  type InjectionKey,
  type Ref,
  type ShallowRef,
} from 'vue'
import type MarkdownIt from 'markdown-it'
import type { WrittenOut } from './writtenOut'

/** How agents name a record of the papers that a person keeps. */
const RECORD = /(?<![A-Za-z0-9])rec_[0-9a-f]{32}(?![A-Za-z0-9])/g
export const namedRecords = (text: string): string[] =>
  text.includes('rec_') ? [...new Set([...text.matchAll(RECORD)].map(([id]) => id))] : []
/** Without the marks of records, for where no record can be shown: those in brackets go with their brackets. */
export const withoutRecords = (text: string): string =>
  text.includes('rec_') ? text.replace(/\s*\[[^\]\n]*\brec_[0-9a-f]{32}[^\]\n]*\]/g, '').replace(RECORD, '') : text
export const replaceRecords = (text: string, shown: (id: string) => string): string => text.replace(RECORD, shown)

/** Marks names of records in texts, but in links and where somebody decides by what is written. */
export function withRecords(markdown: InstanceType<typeof MarkdownIt>): void {
  const { rules } = markdown.renderer
  const { escapeHtml } = markdown.utils
  const { text, code_inline: code } = rules
  const mark = (id: string): string => `<span data-record="${id}">${id}</span>`
  const isMarked = (tokens: Parameters<NonNullable<typeof text>>[0], index: number, env: unknown): boolean => {
    if (!tokens[index]?.content.includes('rec_') || (env as WrittenOut).isWrittenOut) return false
    return tokens.slice(0, index).reduce((sum, { type, nesting }) => sum + (/^link_/.test(type) ? nesting : 0), 0) === 0
  }
  rules.text = (tokens, index, options, env, renderer) => {
    const plain = text?.(tokens, index, options, env, renderer) ?? escapeHtml(tokens[index]?.content ?? '')
    return isMarked(tokens, index, env) ? replaceRecords(plain, mark) : plain
  }
  rules.code_inline = (tokens, index, options, env, renderer) => {
    const content = tokens[index]?.content.trim() ?? ''
    if (isMarked(tokens, index, env) && replaceRecords(content, () => '') === '') return mark(content)
    return code?.(tokens, index, options, env, renderer) ?? ''
  }
}

interface Records {
  /** The component that stands for a record, by its `id`. */
  readonly load: () => Promise<Component>
  readonly open: (id: string) => void
}
const key: InjectionKey<Records> = Symbol('records')

/** Whoever knows the papers offers to show records of them. */
export function offerRecords(records: Records): void {
  provide(key, records)
}
export const useOpenRecord = (): ((id: string) => void) | null => inject(key, null)?.open ?? null

export interface NamedRecord {
  readonly key: string
  readonly id: string
  readonly place: HTMLElement
  readonly chip: Component
}
let made = 0

/** The names of records in what is finished, and the places where what stands for them is put; none while it is written. */
export function useRecords(
  root: Readonly<Ref<HTMLElement | null>>,
  html: () => string | null,
  isFinished: () => boolean,
): Readonly<ShallowRef<readonly NamedRecord[]>> {
  const found = shallowRef<readonly NamedRecord[]>([])
  const records = inject(key, null)
  if (records === null) return found
  async function look(): Promise<void> {
    const before = found.value
    found.value = []
    const text = html()
    const isNamed = records !== null && isFinished() && text?.includes('data-record') === true
    if (!isNamed && before.length === 0) return
    const chip = isNamed ? await records.load().catch(() => null) : null
    await nextTick()
    for (const { id, place } of before) place.textContent = id
    if (chip === null || text !== html() || found.value.length > 0) return
    found.value = [...(root.value?.querySelectorAll<HTMLElement>('span[data-record]') ?? [])].map((place) => {
      const id = place.dataset['record'] ?? ''
      place.textContent = ''
      return { key: `${(made += 1)}`, id, place, chip }
    })
  }
  onMounted(look)
  watch([html, isFinished], look, { flush: 'post' })
  return found
}
