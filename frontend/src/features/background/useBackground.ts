import { useDocumentVisibility, useIntervalFn } from '@vueuse/core'
import { computed, onScopeDispose, reactive, ref, watch } from 'vue'
import { readAtMost } from '@/api/bounded'
import { call, callRaw } from '@/api/client'
import { ApiError } from '@/api/problems'
import type { BackgroundOutput } from '@/api/types'
import { useProblemText } from '@/api/useProblemText'
import { plainOutput } from '@/shared/lib/ansi'
import type { BackgroundCommand } from './commands'

const LARGEST_BYTES = 32_000_000
const LOOK_MS = 2_000
/** What the model is told beside the output; the row says it. */
const REMARK = /\n?\[still running, for \d+ s\]$/

/** One command: what it wrote, looked at again and again while it runs and `isOpen`, and its end. */
export function useBackground(sessionId: () => string, command: () => BackgroundCommand, isOpen: () => boolean) {
  const live = ref('')
  const whole = ref<string | null>(null)
  const problems = reactive({ look: '', stop: '', whole: '' })
  const isStopping = ref(false)
  const isLooking = ref(false)
  const problemText = useProblemText()
  const visibility = useDocumentVisibility()
  const abort = new AbortController()
  const isRunning = computed(() => command().state === 'running')
  const problem = computed(() => (isRunning.value && (problems.stop || problems.look)) || problems.whole)
  const output = computed(() => plainOutput(whole.value ?? (isRunning.value ? live.value : command().preview)))
  const path = (rest = ''): string => `/sessions/${sessionId()}/background/${command().id}${rest}`

  /** What went wrong with one thing stays until that is done again: looks come by themselves. */
  async function attempt(what: keyof typeof problems, work: () => Promise<void>): Promise<void> {
    try {
      await work()
      problems[what] = ''
    } catch (error) {
      if (!abort.signal.aborted) problems[what] = problemText(error)
    }
  }
  async function look(): Promise<void> {
    if (!isOpen() || !isRunning.value || isLooking.value || visibility.value !== 'visible') return
    isLooking.value = true
    await attempt('look', async () => {
      const { output: found } = await call<BackgroundOutput>('GET', path(), { signal: abort.signal })
      // Nothing is told of a computer that can't be asked just now.
      if (found) live.value = found.replace(REMARK, '')
    })
    isLooking.value = false
  }
  async function stop(): Promise<void> {
    if (isStopping.value) return
    isStopping.value = true
    await attempt('stop', async () => void (await call('POST', path('/stop'))))
    isStopping.value = false
  }
  async function showWhole(): Promise<void> {
    const { bodySeq } = command()
    if (bodySeq === null) return
    await attempt('whole', async () => {
      const at = `/sessions/${sessionId()}/events/${bodySeq}/body`
      const bytes = await readAtMost(await callRaw('GET', at, { signal: abort.signal }), LARGEST_BYTES)
      if (bytes === null) throw new ApiError(413, 'body_too_large', '')
      whole.value = await bytes.text()
    })
  }

  watch(isOpen, () => void look(), { immediate: true })
  useIntervalFn(() => void look(), LOOK_MS)
  onScopeDispose(() => abort.abort())
  return { output, whole, problem, isStopping, stop, showWhole }
}
