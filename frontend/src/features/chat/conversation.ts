import { defineStore } from 'pinia'
import { computed, ref, shallowRef } from 'vue'
import { call } from '@/api/client'
import { ApiError } from '@/api/problems'
import { openStream, type StreamHandle, type StreamState } from '@/api/stream'
import type { SandboxState, SessionState, WireEvent } from '@/api/types'
import { useAuth } from '@/features/auth'
import { useSessions } from '@/features/sessions'
import { passFrame } from '@/shared/lib/frames'
import { createPaintSoon } from '@/shared/lib/paintSoon'
import { activityOf } from './activity'
import { createAsks } from './asks'
import { withSandboxAnswer } from './computerState'
import { createHistory } from './history'
import { differsInTextAlone } from './live'
import { isForLater, LATER_MS, pendingOf, type Pending } from './outbox'
import { createOutboxes } from './outboxes'
import { reduce } from './reducer'
import { createRunStop } from './runStop'
import { useCutOff } from './useCutOff'
import { emptyTranscript, isActive, type AgentText, type LiveItem, type Transcript } from './transcript'

/** The session on screen: its transcript, its stream, and what is on its way to it. */
export const useConversation = defineStore('conversation', () => {
  const auth = useAuth()
  const sessions = useSessions()
  const sessionId = ref<string | null>(null)
  /** What is written grows in `live` alone: its text here is the one it had when something else came last. */
  const transcript = shallowRef<Transcript>(emptyTranscript)
  const live = shallowRef<readonly LiveItem[]>([])
  /** The same of its other agents. */
  const agentTexts = shallowRef<readonly AgentText[]>([])
  const history = createHistory()
  /** Older events are there that are not shown yet. */
  const hasEarlier = ref(false)
  const phase = ref<'loading' | 'ready' | 'missing' | 'failed'>('loading')
  const problem = shallowRef<unknown>(null)
  const streamState = ref<StreamState>('connecting')
  const streamError = shallowRef<ApiError | null>(null)
  /** What is shown may be over by now: nothing can be told of it. */
  const isCutOff = useCutOff(() => phase.value === 'ready' && streamState.value === 'reconnecting')
  /** A call on the computer began since it was opened: also one that is over before it could be shown. */
  const hasActed = ref(false)
  let stream: StreamHandle | null = null
  let opening: AbortController | null = null
  let openTimer = 0
  let isLoadingEarlier = false
  let state = emptyTranscript
  // What is shown goes once its stream is back, and tells until then that it waits; one that rests will not be soon.
  const isReachable = (id: string): boolean =>
    auth.isStillHere() && (id !== sessionId.value || ['open', 'resting'].includes(streamState.value))
  const account = (): string => auth.user?.id ?? ''
  const stop = createRunStop(
    {
      sessionId: () => sessionId.value,
      runId: () => transcript.value.run?.id ?? null,
      mayStop: () => isRunning.value || isWaiting.value,
      isOpening: () => phase.value === 'loading',
    },
    { account, isReachable, onSettled: () => outboxes.retry() },
  )
  const outboxes = createOutboxes({
    account,
    mayRetry: isReachable,
    // What was written after a stop is not for the run that this ends.
    isHeldUp: stop.isOnItsWay,
    onStored: (id, seq) => {
      if (id !== sessionId.value || seq <= state.lastSeq) return true
      if (streamState.value !== 'open') stream?.reconnect()
      return false
    },
  })
  /** The name of the request by which the path was selected last. */
  const pathRequest = ref<string | null>(null)
  const outbox = computed(() => (sessionId.value ? outboxes.of(sessionId.value) : []))

  /** There is something to write to, or will be in a moment. */
  const isHere = computed(() => phase.value === 'ready' || phase.value === 'loading')
  /** What the list of conversations says while this one is being opened. */
  const listed = computed(() => {
    const isOpening = sessionId.value !== null && phase.value === 'loading'
    return isOpening ? sessions.byId.get(sessionId.value ?? '')?.status : undefined
  })
  const isRunning = computed(
    () => isActive(transcript.value) || listed.value === 'running' || listed.value === 'queued',
  )
  /** The run waits for the person: nothing works, and it may be stopped. */
  const isWaiting = computed(() => transcript.value.run?.status === 'waiting' || listed.value === 'waiting')
  const activity = computed(() => activityOf(transcript.value))

  /** Many events, one picture: what came since the last frame is shown together. */
  const show = createPaintSoon(showNow)
  function showNow(): void {
    live.value = state.live
    agentTexts.value = state.agentTexts
    if (!differsInTextAlone(transcript.value, state)) transcript.value = state
  }

  function take(event: WireEvent): void {
    if (event.session_id !== sessionId.value) return
    passFrame(event)
    if (event.type === 'path.selected' && event.seq > state.lastSeq) {
      pathRequest.value = event.client_request_id ?? null
      return void showOtherPath(event.session_id)
    }
    const before = state
    state = reduce(state, event)
    if (state === before) return
    if (event.seq !== null && event.seq === state.lastSeq) history.keep(event)
    if (state.gaps > before.gaps) stream?.reconnect()
    if (event.type === 'message.user' && event.client_message_id) settle(event.client_message_id)
    if (event.type === 'run.finished') stop.end(event.session_id, event.run_id)
    if (event.type === 'tool.called' && event.needs_computer) hasActed.value = true
    if (event.seq !== null) sessions.take(event)
    show()
  }

  function settle(clientMessageId: string): void {
    if (sessionId.value) outboxes.settle(sessionId.value, clientMessageId)
  }

  async function open(id: string): Promise<void> {
    close()
    outboxes.load(id)
    sessionId.value = id
    await read(id)
  }
  async function read(id: string): Promise<void> {
    opening = new AbortController()
    if (!(await load(id, opening.signal))) return
    outboxes.adoptUnowned(id)
    stop.open(id)
    follow(id)
    void outboxes.send(id)
  }

  /** Whether it is there, and still the one that is asked for. */
  async function load(id: string, signal: AbortSignal): Promise<boolean> {
    try {
      const asked = call<SessionState>('GET', `/sessions/${id}/state`, { query: { messages: 0 }, signal })
      const [opened, shown] = await Promise.all([asked, history.open(id, asked, signal)])
      if (signal.aborted) return false
      sessions.keep(opened.session)
      state = opened.sandbox ? withSandboxAnswer(shown, opened.sandbox) : shown
      for (const item of state.items) if (item.kind === 'user' && item.clientMessageId) settle(item.clientMessageId)
      hasEarlier.value = history.hasEarlier()
      showNow()
      phase.value = 'ready'
      return true
    } catch (error) {
      if (signal.aborted) return false
      problem.value = error
      phase.value = error instanceof ApiError && error.status === 404 ? 'missing' : 'failed'
      if (isForLater(error)) openTimer = window.setTimeout(() => void read(id), LATER_MS)
      return false
    }
  }

  /** The conversation is another one from here on, in all tabs: what is shown stays until that is there. */
  async function showOtherPath(id: string): Promise<void> {
    stream?.close()
    stream = null
    opening?.abort()
    opening = new AbortController()
    isLoadingEarlier = false
    history.forget()
    if (await load(id, opening.signal)) follow(id)
  }

  /** What was said before what is shown, as far as one more page goes. */
  async function loadEarlier(): Promise<void> {
    const [id, abort] = [sessionId.value, opening]
    if (!id || !abort || !hasEarlier.value || isLoadingEarlier) return
    isLoadingEarlier = true
    try {
      const longer = await history.earlier(id, () => state, abort.signal)
      if (abort.signal.aborted) return
      if (longer) state = longer
      hasEarlier.value = longer !== null && history.hasEarlier()
      showNow()
    } catch {
      // Asked for again with the next look upwards.
    } finally {
      if (opening === abort) isLoadingEarlier = false
    }
  }

  /** What was seen of the computer beside the stream: that it sleeps, or was shut down while nobody worked. */
  function takeComputer(sandbox: SandboxState): void {
    state = withSandboxAnswer(state, sandbox)
    if (state !== transcript.value) show()
  }
  /** It was deleted in another tab or on another device. */
  function leave(): void {
    stream?.close()
    stream = null
    phase.value = 'missing'
  }

  function follow(id: string): void {
    stream = openStream({
      restHiddenMs: 3_000,
      path: `/sessions/${id}/events`,
      query: () => ({ after: state.lastSeq }),
      onMessage: (message) => take(JSON.parse(message.data) as WireEvent),
      onState: (next, error) => {
        streamState.value = next
        streamError.value = error
        if (next === 'open' || next === 'resting') retry()
        if (next !== 'ended') return
        problem.value = error
        phase.value = error?.status === 404 ? 'missing' : 'failed'
      },
    })
  }

  /** A stop first: what was written after it is not for the run that it ends. */
  function retry(): void {
    stop.retry()
    outboxes.retry()
  }
  window.addEventListener('online', () => {
    retry()
    if (sessionId.value && phase.value === 'failed' && isForLater(problem.value)) void open(sessionId.value)
  })

  /** Leaves what was open. What waits there goes all the same, unless this account is `done` here. */
  function close(done = false): void {
    if (done) outboxes.forget()
    else if (sessionId.value) outboxes.leave(sessionId.value)
    stop.close(done)
    clearTimeout(openTimer)
    opening?.abort()
    stream?.close()
    stream = null
    sessionId.value = null
    history.forget()
    hasEarlier.value = isLoadingEarlier = false
    state = emptyTranscript
    showNow()
    phase.value = 'loading'
    problem.value = null
    hasActed.value = false
    streamState.value = 'connecting'
  }

  /** With `interrupt` a running answer is cut, or what is waited for denied, and the run goes on with this; else this
   * waits until it is its turn; `queued` for the end of the run. */
  async function send(
    text: string,
    attachments: readonly string[] = [],
    interrupt = false,
    to = sessionId.value,
    queued = false,
  ): Promise<void> {
    if (to) await outboxes.add(to, [pendingOf(text, attachments, queued ? { queued } : { interrupt })])
  }
  async function sendAgain(entry: Pending): Promise<void> {
    if (sessionId.value) await outboxes.add(sessionId.value, [entry])
  }
  return {
    ...{ sessionId, transcript, live, agentTexts },
    hasEarlier,
    loadEarlier,
    phase,
    isHere,
    problem,
    ...{ streamState, streamError, isCutOff },
    reconnect: () => stream?.reconnect(),
    outbox,
    pathRequest,
    isStopping: stop.isStopping,
    isStopHeld: stop.isHeld,
    stopProblem: stop.problem,
    hasActed,
    ...{ isRunning, isWaiting, activity },
    ...{ open, close, send, sendAgain },
    /** Sends to a conversation whether it is open or not. */
    sendTo: outboxes.add,
    stop: stop.ask,
    ...createAsks(() => sessionId.value),
    takeComputer,
    leave,
    discard: settle,
  }
})
