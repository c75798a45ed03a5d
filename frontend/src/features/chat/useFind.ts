import { computed, onScopeDispose, ref, shallowRef, watch, type Ref } from 'vue'
import { useConversation } from './conversation'
import { itemsIn, type Row } from './fold'
import { provideHits } from './hits'
import type { Item } from './transcript'

const AGAIN_MS = 250

/**
 * Finds words in a long conversation, most of which is not on the page, so that the browser can't: Ctrl+F opens it where
 * `isLong`. What is older than what is loaded is asked for page by page.
 */
export function useFind(items: Ref<readonly Row[]>, jump: (index: number) => void, isLong: () => boolean) {
  const conversation = useConversation()
  const isOpen = ref(false)
  const words = ref('')
  /** The key of the one that is shown. */
  const found = ref('')
  /** The message that a link leads to, as long as nothing else is looked for. */
  const linked = shallowRef('')
  let isOver = false
  const wanted = computed(() => words.value.trim().toLowerCase())
  const matches = computed(() =>
    isOpen.value && wanted.value !== ''
      ? items.value.flatMap((item, index) => (textOf(item).includes(wanted.value) ? [index] : []))
      : [],
  )
  /** Its number among them, from 1; 0 where none is shown. */
  const place = computed(() => matches.value.findIndex((index) => items.value[index]?.key === found.value) + 1)
  provideHits((item) => {
    const row = found.value === '' ? undefined : items.value.find(({ key }) => key === found.value)
    if (!row || !itemsIn([row]).some(({ key }) => key === item.key)) return false
    return linked.value ? isMessage(item, linked.value) : wanted.value !== '' && textOf(item).includes(wanted.value)
  })
  const isLooking = computed(() => isOpen.value && wanted.value !== '' && conversation.hasEarlier)

  /** The next one towards the beginning, or the end; from the last one it goes on with the first. */
  function go(direction: -1 | 1): void {
    linked.value = ''
    const count = matches.value.length
    if (count === 0) return
    const at = place.value === 0 ? count - 1 : (place.value - 1 + direction + count) % count
    show(matches.value[at] ?? 0)
  }
  function show(index: number): void {
    found.value = items.value[index]?.key ?? ''
    jump(index)
  }
  /** One more page of what is older. */
  async function loadMore(): Promise<void> {
    const before = items.value.length
    await conversation.loadEarlier()
    // Another one is asking, or the server is away.
    if (items.value.length === before) await new Promise((resolve) => setTimeout(resolve, AGAIN_MS))
  }
  /** Shows the message that a link leads to, also where it is not loaded yet. */
  async function reach(messageId: string): Promise<void> {
    linked.value = messageId
    while (!isOver) {
      const index = items.value.findIndex((row) => itemsIn([row]).some((item) => isMessage(item, messageId)))
      if (index >= 0) return show(index)
      if (!conversation.hasEarlier) return
      await loadMore()
    }
  }
  /** All that is older, until it is there or nobody asks any more. */
  async function loadOlder(): Promise<void> {
    while (isLooking.value && !isOver) {
      await loadMore()
      if (matches.value.length > 0 && place.value === 0) go(-1)
    }
  }
  watch(wanted, () => {
    found.value = ''
    go(-1)
  })
  watch(isLooking, (is) => is && void loadOlder())
  onScopeDispose(() => (isOver = true))

  function close(): void {
    isOpen.value = false
    found.value = ''
  }
  function onKey(event: KeyboardEvent): void {
    const isAsked =
      (event.ctrlKey || event.metaKey) && !event.altKey && !event.shiftKey && event.key.toLowerCase() === 'f'
    if (!isAsked || !isLong()) return
    event.preventDefault()
    isOpen.value = true
  }
  window.addEventListener('keydown', onKey)
  onScopeDispose(() => window.removeEventListener('keydown', onKey))
  return { isOpen, words, found, matches, place, isLooking, go, close, reach }
}

/** That message, or one of an agent that works on this call. */
function isMessage(item: Item, messageId: string): boolean {
  if (item.kind === 'tool') return item.inner.some((one) => isMessage(one, messageId))
  return 'messageId' in item && item.messageId === messageId
}

const texts = new WeakMap<Row, string>()
/** What is said in it, and what stands in its calls. */
function textOf(item: Row): string {
  const known = texts.get(item)
  if (known !== undefined) return known
  const text = partsOf(item).join('\n').toLowerCase()
  texts.set(item, text)
  return text
}
function partsOf(item: Row): readonly string[] {
  if (item.kind === 'work') return item.steps.flatMap(partsOf)
  if (item.kind === 'agents') return item.agents.flatMap(partsOf)
  if (item.kind === 'tool')
    return [item.phrase, ...Object.values(item.arguments).map(String), item.preview, ...item.inner.flatMap(partsOf)]
  if (item.kind === 'plan') return [item.plan]
  if (item.kind === 'question') return item.questions.map(({ text }) => text)
  if (item.kind === 'compaction') return [item.summary]
  if (item.kind === 'team') return [item.content]
  return 'text' in item ? [item.text] : []
}
