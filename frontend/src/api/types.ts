import type { SandboxBody, SessionBody, SessionPageBody, StateBody } from './generated/openapi'

export type * from './generated/events'
export type {
  AcceptedBody as MessageAnswer,
  AuthStatusBody as AuthStatus,
  FileEntryBody as FileEntry,
  FilePreviewBody as FileContent,
  GrantBody as TokenAnswer,
  GrantedUser as AuthUser,
  IssuedTicketBody as VncTicket,
  ModelBody as ModelInfo,
  SignedLinkBody as FileLink,
  UploadedBody as Uploaded,
} from './generated/openapi'

export interface FieldError {
  field: string
  message: string
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
}
export type SessionStatus = 'idle' | 'queued' | 'running' | 'waiting'
export type Session = Omit<SessionBody, 'status'> & { status: SessionStatus }
export type SessionPage = Omit<SessionPageBody, 'items'> & { items: Session[] }
export type ComputerStatus = 'none' | 'starting' | 'ready' | 'paused' | 'failed' | 'gone'
export type SessionState = Pick<StateBody, 'last_seq'> & {
  session: Session
  sandbox: (Omit<SandboxBody, 'status'> & { status: ComputerStatus }) | null
}
