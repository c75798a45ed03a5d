import { defineStore } from 'pinia'
import { computed, ref, shallowRef, watch } from 'vue'
import { call } from '@/api/client'
import type { Fork, ForkList, Session, Undone } from '@/api/types'
import { useAuth } from '@/features/auth'
import { useSessions } from '@/features/sessions'
import { createId } from '@/shared/lib/ids'
import { useConversation } from './conversation'
import { recallEdited } from './drafts'
import { isForLater, LATER_MS } from './outbox'

/** A fork of the path that is shown, and which of its ways that is; -1 where none is. */
export interface KnownFork extends Fork {
  readonly at: number
  /** Messages on the other ways. */
  readonly others: number
}
/** Where the focus goes once the way that begins with this message is shown. */
export interface FocusAfter {
  readonly shown: string
  readonly direction: -1 | 1
}

/** The other ways on which the conversation that is open could go on, and what a person does to its messages. */
export const useBranches = defineStore('branches', () => {
  const conversation = useConversation()
  const sessions = useSessions()
  const auth = useAuth()
  const forks = shallowRef<readonly KnownFork[]>([])
  /** The message that is being changed. */
  const editing = ref<string | null>(null)
  /** The person has just begun that, and writes there next. */
  const opened = ref(false)
  /** The one whose actions a long press has brought out. */
  const pressed = ref<string | null>(null)
  const busy = ref<string | null>(null)
  /** What went wrong, and at which message. */
  const problem = shallowRef<{ readonly at: string; readonly error: unknown } | null>(null)
  /** What was written in a turn that is undone. */
  const givenBack = shallowRef<{ readonly sessionId: string; readonly text: string } | null>(null)
  const focusAfter = shallowRef<FocusAfter | null>(null)

  const byChild = computed(() => {
    const shown = forks.value.flatMap((fork) =>
      fork.children.filter((one) => one.is_shown).map((one) => ({ fork, one })),
    )
    return new Map(shown.map(({ fork, one }) => [one.message_id, fork]))
  })
  const byAfter = computed(() => new Map(forks.value.map((fork) => [fork.after_message_id, fork])))
  /** The other ways at the end of what is shown. */
  const atEnd = computed(() => forks.value.find(({ at }) => at < 0) ?? null)

  let timer = 0
  /** Answers and their numbers of messages are counted anew with each end of a run. */
  watch(
    [
      () => (conversation.phase === 'ready' ? conversation.sessionId : null),
      () => conversation.transcript.branchesSeq,
      () => conversation.isRunning,
    ],
    ([id, seq]) => void load(id, seq),
    { immediate: true },
  )
  async function load(id: string | null, seq: number): Promise<void> {
    clearTimeout(timer)
    if (id === null || seq === 0) {
      forks.value = []
      return
    }
    try {
      const list = await call<ForkList>('GET', `/sessions/${id}/branches`)
      if (id === conversation.sessionId) forks.value = list.items.map(known)
    } catch (error) {
      // Else with the next change.
      const isAsked = id === conversation.sessionId && seq === conversation.transcript.branchesSeq
      if (isForLater(error) && isAsked) timer = window.setTimeout(() => void load(id, seq), LATER_MS)
    }
  }

  /** Whether it was done; what went wrong is told beside the message. */
  async function act(at: string, work: (path: string) => Promise<void>): Promise<boolean> {
    const id = conversation.sessionId
    if (id === null || busy.value !== null) return false
    busy.value = at
    problem.value = null
    try {
      await work(`/sessions/${id}`)
      return true
    } catch (error) {
      problem.value = { at, error }
      return false
    } finally {
      busy.value = null
    }
  }

  function begin(at: string): void {
    editing.value = at
    opened.value = true
  }
  // One that was being changed when the page went is there again.
  watch(
    () => (conversation.phase === 'ready' ? conversation.sessionId : null),
    (id) => (editing.value = id === null ? null : recallEdited(auth.user?.id ?? null, id)),
    { immediate: true },
  )

  /** What had no answer goes again under the same id, under which it is done once. */
  let tried: { readonly asked: string; readonly id: string; readonly again: () => unknown } | null = null
  async function once(at: string, asked: unknown, work: (path: string, id: string) => Promise<void>): Promise<boolean> {
    if (busy.value !== null) return false
    const wanted = JSON.stringify([conversation.sessionId, at, asked])
    const id = tried?.asked === wanted ? tried.id : createId()
    tried = { asked: wanted, id, again: () => once(at, asked, work) }
    const isDone = await act(at, (path) => work(path, id))
    if (isDone) tried = null
    else if (id === conversation.pathRequest) learn()
    return isDone
  }
  let learnt = ''
  /** It was done, and only its answer was lost, which has what an undone message said. */
  function learn(): void {
    if (tried === null || busy.value !== null || tried.id === learnt) return
    problem.value = null
    learnt = tried.id
    if (tried.asked.endsWith('"undo"]')) tried.again()
    else tried = null
  }
  watch(
    () => conversation.pathRequest,
    (id) => id !== null && id === tried?.id && learn(),
  )
  async function edit(at: string, text: string, run: boolean, withoutFiles: boolean): Promise<boolean> {
    const body = { text, run, ...(withoutFiles ? { attachments: [] } : {}) }
    const isDone = await once(at, ['edit', body], async (path, id) => {
      await call('POST', `${path}/messages/${at}/edit`, { body: { ...body, client_message_id: id } })
    })
    if (isDone) editing.value = null
    return isDone
  }
  const regenerate = (at: string): Promise<boolean> =>
    once(at, 'regenerate', async (path, id) => {
      await call('POST', `${path}/messages/${at}/regenerate`, { body: { client_request_id: id } })
    })
  function undo(at: string): Promise<boolean> {
    const sessionId = conversation.sessionId ?? ''
    return once(at, 'undo', async (path, id) => {
      const { text } = await call<Undone>('POST', `${path}/messages/${at}/undo`, { body: { client_request_id: id } })
      givenBack.value = { sessionId, text }
    })
  }
  /** Before the agent has read it; its words are the person's again, to be written anew. */
  async function withdraw(at: string, text: string): Promise<void> {
    const sessionId = conversation.sessionId ?? ''
    if (await act(at, async (path) => void (await call('DELETE', `${path}/messages/${at}`))))
      givenBack.value = { sessionId, text }
  }
  function show(at: string, direction: FocusAfter['direction'] = 1): Promise<boolean> {
    focusAfter.value = { shown: at, direction }
    return act(at, async (path) => void (await call('PUT', `${path}/path`, { body: { message_id: at } })))
  }
  const remove = (at: string, messages: number): Promise<boolean> =>
    act(at, async (path) => void (await call('DELETE', `${path}/branches/${at}`, { query: { messages } })))
  /** The id of a conversation of its own that begins with what was said up to there. */
  async function branch(at: string): Promise<string | null> {
    let made: Session | null = null
    await once(at, 'branch', async (path, id) => {
      made = await call<Session>('POST', `${path}/branch`, { body: { message_id: at, client_request_id: id } })
      sessions.keep(made)
    })
    return (made as Session | null)?.id ?? null
  }

  return {
    ...{ forks, byChild, byAfter, atEnd, editing, opened, begin, pressed, busy, problem, givenBack, focusAfter },
    ...{ edit, regenerate, undo, withdraw, show, remove, branch },
  }
})

function known(fork: Fork): KnownFork {
  const at = fork.children.findIndex((one) => one.is_shown)
  const others = fork.children.reduce((sum, one, index) => (index === at ? sum : sum + one.messages), 0)
  return { ...fork, at, others }
}
