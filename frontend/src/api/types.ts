export type * from './generated/events'

export interface FieldError {
  field: string
  message: string
}
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
export interface AuthUser {
  id: string
  username: string
  is_admin: boolean
}
export interface TokenAnswer {
  access_token: string
  refresh_token: string
  token_type: string
  expires_in: number
  user: AuthUser
}
export interface AuthStatus {
  mode: 'password' | 'local'
  has_users: boolean
  registration_open: boolean
}
export type SessionStatus = 'idle' | 'queued' | 'running' | 'waiting'
export interface Session {
  id: string
  title: string
  status: SessionStatus
  model: string | null
  options: Record<string, unknown>
  created_at: string
  updated_at: string
  last_seq: number
  pinned?: boolean
}
export interface SessionPage {
  items: Session[]
  next_cursor: string | null
}
export interface ComputerState {
  status: 'none' | 'starting' | 'ready' | 'paused' | 'failed' | 'gone'
  reason?: string | null
  retryable?: boolean
  has_desktop?: boolean
  expires_at?: string | null
}
export interface SessionState {
  session: Session
  sandbox: ComputerState | null
  last_seq: number
}
export interface MessageAnswer {
  message_id: string
  run_id: string
  seq: number
  duplicate: boolean
}
export interface FileEntry {
  path: string
  name: string
  size: number
  modified_at: string
  is_dir: boolean
}
export interface FileContent {
  path: string
  name: string
  size: number
  content: string | null
  binary: boolean
  language: string | null
  truncated: boolean
}
export interface ModelInfo {
  id: string
  label: string
  provider: string
  is_demo: boolean
  is_default: boolean
  notes?: string[]
}
export interface VncTicket {
  ticket: string
  url: string
  expires_at: string
}
export interface FileLink {
  url: string
  expires_at: string
}
