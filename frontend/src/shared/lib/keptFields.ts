import { watch, type Ref } from 'vue'
import { DRAFT, recallJson, remember } from './storage'

const areTexts = (value: unknown): value is string[] =>
  Array.isArray(value) && value.every((text) => typeof text === 'string')

/**
 * Keeps what `writer` has written in the fields of a form by its `name`, also over a reload, so that leaving it needs
 * no question. Answers what forgets it: they are saved, or not wanted.
 */
export function useKeptFields(writer: string | null, name: string, fields: readonly Ref<string>[]): () => void {
  const key = `${DRAFT}${writer ?? ''}:${name}`
  const now = (): string => JSON.stringify(fields.map(({ value }) => value))
  let before = now()
  const kept = recallJson(key, areTexts, [])
  if (kept.length === fields.length) fields.forEach((field, index) => (field.value = kept[index] ?? ''))
  watch(now, (texts) => remember(key, texts === before ? null : texts), { flush: 'sync' })
  return () => {
    before = now()
    remember(key, null)
  }
}
