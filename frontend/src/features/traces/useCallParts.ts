import { onScopeDispose, ref, shallowRef } from 'vue'
import { readAtMost } from '@/api/bounded'
import { callRaw } from '@/api/client'
import { ApiError } from '@/api/problems'
import { useProblemText } from '@/api/useProblemText'
import type { ModelCall, RequestPayload, ResponsePayload } from './modelCalls'

const LARGEST_BYTES = 32_000_000

/** What was asked and answered in a call; what is long is fetched when it is to be shown. */
export function useCallParts(sessionId: () => string, call: () => ModelCall) {
  const request = shallowRef<RequestPayload | null>(null)
  const response = shallowRef<ResponsePayload | null>(null)
  const isWhole = ref(false)
  const isLoading = ref(false)
  const problem = ref('')
  const problemText = useProblemText()
  const abort = new AbortController()
  onScopeDispose(() => abort.abort())

  async function fetched<T>(path: string): Promise<T> {
    const given = await callRaw('GET', `/sessions/${sessionId()}/events/${path}`, { signal: abort.signal })
    const bytes = await readAtMost(given, LARGEST_BYTES)
    if (bytes === null) throw new ApiError(413, 'body_too_large', '')
    return JSON.parse(await bytes.text()) as T
  }
  async function attempt(load: () => Promise<void>): Promise<void> {
    if (isLoading.value) return
    isLoading.value = true
    problem.value = ''
    try {
      await load()
    } catch (error) {
      if (!abort.signal.aborted) problem.value = problemText(error)
    } finally {
      isLoading.value = false
    }
  }

  /** The new part of the request, and the response as soon as there is one. */
  const load = async (): Promise<void> =>
    await attempt(async () => {
      const { seq, payload, hasEarlier, isKept, response: answered } = call()
      isWhole.value = isWhole.value || !hasEarlier
      if (isKept) request.value ??= payload ?? (await fetched<RequestPayload>(`${seq}/body`))
      if (answered?.isKept)
        response.value ??= answered.payload ?? (await fetched<ResponsePayload>(`${answered.seq}/body`))
    })
  /** The request with all that was sent before. */
  const loadWhole = async (): Promise<void> =>
    await attempt(async () => {
      request.value = await fetched<RequestPayload>(`${call().seq}/request`)
      isWhole.value = true
    })
  return { request, response, isWhole, isLoading, problem, load, loadWhole }
}
