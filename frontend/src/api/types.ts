import type { SandboxUpdatedEvent } from './generated/events'
import type {
  MadeShareBody,
  SandboxBody,
  SandboxTargetBody,
  SessionBody,
  SessionPageBody,
  StateBody,
  TargetBody,
} from './generated/openapi'

export type * from './generated/events'
export type {
  AcceptedBody as MessageAnswer,
  AgentBody as AgentKind,
  AddedBody as CorpusAdded,
  AuthStatusBody as AuthStatus,
  BackgroundOutputBody as BackgroundOutput,
  ChangeAgentBody,
  ChangeMcpServerBody,
  ControlBody as ControlLease,
  CreateScheduleBody,
  DeletedFolderBody as DeletedFolder,
  FileEntryBody as FileEntry,
  FilePreviewBody as FileContent,
  FolderBody as FolderInfo,
  FolderFileBody as FolderFile,
  FolderFileListBody as FolderFileList,
  ForkBody as Fork,
  ForkListBody as ForkList,
  FolderListBody as FolderList,
  FoundBody as FoundMessage,
  FoundPageBody as FoundPage,
  GrantBody as TokenAnswer,
  GrantedUser as AuthUser,
  ImportedBody as CorpusImport,
  IssuedTerminalTicketBody as TerminalTicket,
  TerminalListBody as TerminalList,
  TextFileBody as TextFile,
  SavedTextBody as SavedText,
  IssuedTicketBody as VncTicket,
  MadeShareBody as MadeShare,
  McpServerBody as McpServer,
  MemoryBody as MemoryFile,
  MemoryListBody as MemoryList,
  MissedBody as MissedTimes,
  ModelBody as ModelInfo,
  ListedModelsBody as ListedModels,
  QueueBody as MessageQueue,
  QueuedMessageBody as QueuedMessage,
  OpenedPortBody as OpenPort,
  OpenedPortsBody as OpenPorts,
  OptionsBody,
  PortAddressBody as PortAddress,
  PresetBody as PresetInfo,
  PresetTextBody as PresetText,
  ChangedFileBody as ChangedFile,
  ChangesBody as FileChanges,
  CheckBody as CitationCheck,
  DraftBody as Draft,
  FindingBody as CitationFinding,
  ListedProjectBody as ListedProject,
  ProjectBody as WritingProject,
  ProjectPageBody as WritingProjectPage,
  ReferenceBody as WritingReference,
  RevisionBody as WritingRevision,
  RevisionPageBody as WritingRevisionPage,
  SectionBody as WritingSection,
  StyleBody as CitationStyle,
  WholeRevisionBody as WholeRevision,
  AttachedListBody as CorpusAttached,
  MatchBody as CorpusMatch,
  RecordBody as CorpusRecord,
  ResourceBody as ResourceWhole,
  TaskBody as TaskInfo,
  RecordPageBody as CorpusPage,
  ScheduleBody as Schedule,
  TargetBody as RemoteHost,
  SandboxTargetBody as SandboxTarget,
  SandboxChoicesBody as SandboxChoices,
  TargetListBody as TargetList,
  CreateTargetBody,
  ChangeTargetBody,
  TargetTrialBody as TargetTrial,
  SearchTrialBody,
  SearchTrialResultBody as SearchTrialResult,
  SettingBody,
  ShareBody as Share,
  SharedBody as SharedConversation,
  ShareListBody as ShareList,
  UnlockedBody as SharedUnlocked,
  SkillBody as Skill,
  TrialResultBody as TrialResult,
  SignedLinkBody as FileLink,
  SpendingBody as Spending,
  SpentBody as Spent,
  SpentRowBody as SpentRow,
  SnapshotBody as Snapshot,
  SnapshotListBody as SnapshotList,
  TagBody as CorpusTag,
  ToolBody as ToolInfo,
  UndoneBody as Undone,
  UpdateScheduleBody,
  UploadedBody as Uploaded,
  WholeSkillBody as WholeSkill,
} from './generated/openapi'

/** A computer that a conversation may be begun on, beside the usual one. */
export type Target = TargetBody | SandboxTargetBody

/** What goes along with a conversation that is shared. */
export type SharePart = MadeShareBody['include'][number]

export interface FieldError {
  field: string
  message: string
  code?: string | null
}
/** RFC 9457 problem details, as every service answers them. */
export interface Problem {
  type: string
  title: string
  status: number
  detail: string
  code: string
  retryable: boolean
  request_id: string | null
  errors: FieldError[] | null
  limit_bytes?: number | null
}
export type SessionStatus = 'idle' | 'queued' | 'running' | 'waiting'
/** A server of before has no folders, and the usual computer alone. */
export type Session = Omit<SessionBody, 'status' | 'folder_id' | 'target_id'> & {
  status: SessionStatus
  folder_id?: string | null | undefined
  target_id?: string | null | undefined
}
export type SessionPage = Omit<SessionPageBody, 'items'> & { items: Session[] }
export type ComputerStatus = SandboxUpdatedEvent['status']
export type SandboxState = Omit<SandboxBody, 'status'> & { status: ComputerStatus }
/** The run that goes on. */
export interface ActiveRun {
  id: string
  status: 'queued' | 'running' | 'waiting'
  created_at: string
  started_at: string | null
}
export type SessionState = Pick<StateBody, 'last_seq'> &
  Partial<Pick<StateBody, 'plan' | 'tasks' | 'todos' | 'background' | 'resources' | 'queue'>> & {
    session: Session
    sandbox: SandboxState | null
    run?: ActiveRun | null
  }

type Shown = Pick<
  Session,
  | 'title'
  | 'status'
  | 'model'
  | 'preset'
  | 'options'
  | 'pinned'
  | 'archived'
  | 'folder_id'
  | 'target_id'
  | 'read_seq'
  | 'unread'
  | 'failed'
  | 'sandbox'
  | 'active_at'
>
type FeedHead<T extends string> = { readonly type: T; readonly seq: number | null; readonly at: string }
/** How new a change is, where it says so. */
type Numbers = Pick<Session, 'last_seq' | 'updated_at'>
/** One change of the list of conversations; of an updated one only what changed is there. */
export type FeedEvent =
  | FeedHead<'feed.started' | 'feed.reset' | 'feed.ready'>
  | (FeedHead<'session.created' | 'session.snapshot'> & { readonly session_id: string } & Omit<Session, 'id'>)
  | (FeedHead<'session.updated'> & { readonly session_id: string } & Partial<Shown & Numbers>)
  | (FeedHead<'session.deleted'> & { readonly session_id: string })
