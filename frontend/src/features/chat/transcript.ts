import type {
  ApprovalRequestedEvent,
  ApprovalResolvedEvent,
  BodyReference,
  ComputerStatus,
  Display,
  KeptResource,
  ModelRetryEvent,
  OpenPort,
  PlanDecidedEvent,
  PlanUpdatedEvent,
  TeamMessageEvent,
  TeammateUpdatedEvent,
  TasksUpdatedEvent,
  TodosUpdatedEvent,
  QuestionAnsweredEvent,
  QuestionAskedEvent,
  Usage,
} from '@/api/types'
import type { BackgroundCommand } from '@/features/background'
import type { ModelCall } from '@/features/traces'
import type { Pieces } from '@/shared/lib/pieces'

export interface UserItem {
  readonly kind: 'user'
  readonly key: string
  readonly seq: number
  readonly messageId: string
  readonly text: string
  readonly attachments: readonly string[]
  readonly clientMessageId: string | null
  readonly at: string
}
export interface AssistantItem {
  readonly kind: 'assistant'
  readonly key: string
  readonly messageId: string
  readonly text: string
  readonly partial: boolean
  readonly complete: boolean
  /** How many code points its text has, while it is written. */
  readonly points?: number
  /** What is still being written stands before what the person said after it began. */
  readonly afterSeq?: number
}
export interface ThinkingItem {
  readonly kind: 'thinking'
  readonly key: string
  readonly messageId: string
  readonly text: string
  readonly durationMs: number | null
  readonly complete: boolean
  /** When its first piece came, while it is written. */
  readonly startedAt?: string
  readonly points?: number
  readonly afterSeq?: number
}
/** Asking is one that waits for the person, approved one that may run once others are decided, refused one that the
 * person did not want, and skipped one that was ended before it had begun. */
export type ToolOutcome = 'asking' | 'approved' | 'running' | 'succeeded' | 'failed' | 'refused' | 'skipped' | 'cut'
export interface ToolItem {
  readonly kind: 'tool'
  /** The agent that works on this call, if it is given to one, and what that says and calls. */
  readonly agentId: string | null
  /** The name of its kind. */
  readonly agentKind: string | null
  /** Who that is in the team, if it is a teammate. */
  readonly teammate: Teammate | null
  readonly inner: readonly (ToolItem | AssistantItem | ThinkingItem | ApprovalItem | TeamItem)[]
  readonly key: string
  readonly callId: string
  readonly name: string
  readonly arguments: Readonly<Record<string, unknown>>
  readonly phrase: string
  readonly outcome: ToolOutcome
  /** What needs none runs while the computer starts. */
  readonly needsComputer: boolean
  /** When it began to run; null while the computer it runs on is awaited. */
  readonly startedAt: string | null
  readonly durationMs: number | null
  readonly output: string
  readonly outputPoints: number
  readonly preview: string
  readonly display: Display | null
  readonly body: (BodyReference & { readonly seq: number }) | null
}
/** `reason` says why one left; it began at `since`, and is at this since `at`. */
export type Teammate = Pick<TeammateUpdatedEvent, 'name' | 'role' | 'status' | 'reason'> & {
  readonly since?: string
  readonly at?: string
}
/** What an agent that works for the main one is writing. */
export type AgentText = Pieces & Pick<LiveItem, 'key' | 'messageId' | 'kind'> & { readonly agentId: string }
/** What agents of a team tell each other. */
export interface TeamItem {
  readonly kind: 'team'
  readonly key: string
  readonly sender: string
  readonly recipients: readonly string[]
  readonly content: string
  readonly msgType: TeamMessageEvent['msg_type']
  readonly approve: boolean | null
}
/** The model said nothing: a notice tells so before the end. */
export const SILENT = 'silent'
export interface EndItem {
  readonly kind: 'end'
  readonly key: string
  readonly runId: string
  readonly status: RunEnd
  readonly reason: string | null
  /** What the reason is, for words in the page's language. */
  readonly code: string | null
  readonly retryable: boolean
  readonly files: readonly string[]
  /** Of work: without the time in which it waited for the person. */
  readonly durationMs: number
  readonly usage: Usage
}
export interface NoteItem {
  readonly kind: 'note'
  readonly key: string
  readonly tone: 'notice' | 'error'
  readonly text: string
  readonly code: string | null
  /** What the words of the code are filled with. */
  readonly params: Readonly<Record<string, string | number>>
}
/** What the agent asks; `by` says what ended it, null while it waits. */
export interface QuestionItem {
  readonly kind: 'question'
  readonly key: string
  readonly questionId: string
  readonly callId: string
  readonly questions: QuestionAskedEvent['questions']
  readonly answers: QuestionAnsweredEvent['answers']
  readonly by: QuestionAnsweredEvent['by'] | null
}
export type ApprovalDecision = Pick<ApprovalResolvedEvent, 'decision' | 'by' | 'feedback'>
/** Calls that wait for the person; `decided` by their ids. */
export interface ApprovalItem {
  readonly kind: 'approval'
  readonly key: string
  readonly approvalId: string
  readonly calls: ApprovalRequestedEvent['calls']
  readonly expiresAt: string | null
  readonly decided: Readonly<Record<string, ApprovalDecision>>
}
/** A plan that waits for the person; `decided` says what became of it. */
export interface PlanItem {
  readonly kind: 'plan'
  readonly key: string
  readonly planId: string
  readonly callId: string
  readonly plan: string
  readonly decided: Pick<PlanDecidedEvent, 'decision' | 'by' | 'feedback'> | null
}
/** What stands above is known to the agent by this summary only; `before` and `after` are tokens. */
export interface CompactionItem {
  readonly kind: 'compaction'
  readonly key: string
  readonly summary: string
  readonly focus: string | null
  readonly before: number
  readonly after: number
  readonly transcript: string | null
}
export type Item =
  | CompactionItem
  | PlanItem
  | ApprovalItem
  | QuestionItem
  | UserItem
  | AssistantItem
  | ThinkingItem
  | ToolItem
  | EndItem
  | TeamItem
  | NoteItem
export type LiveItem = AssistantItem | ThinkingItem

export type RunEnd = 'completed' | 'failed' | 'stopped' | 'interrupted'
export interface RunView {
  readonly id: string
  readonly status: 'queued' | 'running' | 'waiting' | RunEnd
  readonly model: string | null
  readonly startedAt: string
  /** It sums up the conversation, and does nothing else. */
  readonly isSummingUp?: boolean
  /** How long it waited for the person so far, but for the wait that began at `waitsSince`. */
  readonly waitedMs?: number
  readonly waitsSince?: string | null
}
export interface ComputerView {
  /** The event that told of it, or the last one before it was looked at. */
  readonly seq: number
  /** Queued is one that is to start once there is room. */
  readonly status: ComputerStatus | 'queued'
  readonly reason: string | null
  readonly hasDesktop: boolean
  /** Who controls it; undefined where nobody has told. */
  readonly driver?: { readonly client: string; readonly holder: string } | null | undefined
  /** 1 is the next one to be let in. */
  readonly queuePosition: number | null
  readonly isAtOwnLimit: boolean
  /** It ends soon: at `endsAt` unless it is used, at `expiresAt` in any case. */
  readonly warning: { readonly endsAt: string; readonly expiresAt: string | null } | null
}

/** What a session has said so far. `items` follow the stored order; `live` is what is being written after them. */
export interface Transcript {
  readonly lastSeq: number
  /** The last event the agent had read when it last did something, or when its run began. */
  readonly readSeq: number
  readonly items: readonly Item[]
  readonly live: readonly LiveItem[]
  /** What its other agents are writing. */
  readonly agentTexts: readonly AgentText[]
  readonly run: RunView | null
  readonly computer: ComputerView
  /** Of the work at hand, as the agent told them last. */
  readonly steps: PlanUpdatedEvent['steps']
  /** Its own working list, as it told it last. */
  readonly todos: TodosUpdatedEvent['todos']
  /** The session's, which its agents share. */
  readonly tasks: Pick<TasksUpdatedEvent, 'version' | 'tasks'>
  /** What runs and ran in the background of the computer. */
  readonly background: readonly BackgroundCommand[]
  /** Of the computer, which are open to the person. */
  readonly ports: readonly OpenPort[]
  /** What agent and person keep with the conversation. */
  readonly kept: readonly KeptResource[]
  /** How many messages wait for the end of the run, and the event that told so last. */
  readonly queue: { readonly count: number; readonly seq: number }
  readonly usage: Usage | null
  /** Where the conversation wants them stored. */
  readonly modelCalls: readonly ModelCall[]
  /** How many tokens the agent's model read and wrote last, null where nobody has told. */
  readonly contextTokens: number | null
  /** The model's provider failed, and is asked again after a while; null once anything else came of the run. */
  readonly retry: ModelRetryEvent | null
  readonly title: string | null
  readonly model: string | null
  /** Grows with each change of files, so that whoever shows files knows to look again. */
  readonly filesVersion: number
  /** The last event by which another path was selected, or a branch deleted; 0 for none. */
  readonly branchesSeq: number
  /** Grows when something is missing: the reader must ask again from `lastSeq`. */
  readonly gaps: number
}

/** A run is at work or waits for its turn. */
export function isActive({ run }: Pick<Transcript, 'run'>): boolean {
  return run?.status === 'running' || run?.status === 'queued'
}

/** The person said it when nobody was to answer it any more, as the run it was for has ended. */
export function isLeftUnread(item: Item, { run, readSeq }: Pick<Transcript, 'run' | 'readSeq'>): boolean {
  const hasEnded = run !== null && !['queued', 'running', 'waiting'].includes(run.status)
  return hasEnded && item.kind === 'user' && item.seq > readSeq
}

/** The event that ended the run. */
export const endSeq = ({ key }: Pick<EndItem, 'key'>): number => Number(key.slice('end:'.length))

/** The person said it without interrupting to a run that waits for a decision, which it reads first. */
export function isForAfterwards(item: Item, { run, readSeq }: Pick<Transcript, 'run' | 'readSeq'>): boolean {
  return run?.status === 'waiting' && item.kind === 'user' && item.seq > readSeq
}

export const emptyTranscript: Transcript = {
  lastSeq: 0,
  readSeq: 0,
  items: [],
  live: [],
  agentTexts: [],
  run: null,
  computer: {
    seq: 0,
    status: 'none',
    reason: null,
    hasDesktop: true,
    queuePosition: null,
    isAtOwnLimit: false,
    warning: null,
  },
  steps: [],
  todos: [],
  tasks: { version: 0, tasks: [] },
  usage: null,
  background: [],
  ports: [],
  kept: [],
  queue: { count: 0, seq: 0 },
  modelCalls: [],
  contextTokens: null,
  retry: null,
  title: null,
  model: null,
  filesVersion: 0,
  branchesSeq: 0,
  gaps: 0,
}
