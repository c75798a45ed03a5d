import { defineStore } from 'pinia'
import { computed, ref } from 'vue'
import { call, onSignedOut } from '@/api/client'
import { dropTokens, keepTokens, onTokensChanged, readTokens } from '@/api/tokens'
import type { AuthStatus, AuthUser, TokenAnswer } from '@/api/types'

export interface Credentials {
  username: string
  password: string
}

/** Who we are: in local mode nobody has to say, else whoever holds the tokens. */
export const useAuth = defineStore('auth', () => {
  const status = ref<AuthStatus | null>(null)
  const user = ref<AuthUser | null>(null)
  const hasTokens = ref(readTokens() !== null)
  const isLeaving = ref(false)
  /** The log-in ended without this page's asking: logged out elsewhere, expired, password changed, account closed. */
  const wasCut = ref(false)
  const isLocal = computed(() => status.value?.mode === 'local')
  const isSignedIn = computed(() => isLocal.value || hasTokens.value)

  onSignedOut(() => {
    wasCut.value = !isLeaving.value
    forget()
  })
  onTokensChanged(() => {
    hasTokens.value = readTokens() !== null
    if (!hasTokens.value) wasCut.value = !isLeaving.value
    else void recognise()
  })

  /** Another tab has new tokens; what stands here may be another account's. */
  async function recognise(): Promise<void> {
    const before = user.value?.id
    const now = await call<AuthUser>('GET', '/auth/me').catch(() => null)
    if (now && before !== undefined && now.id !== before) location.assign('/')
    else if (now) user.value = now
  }

  function forget(): void {
    dropTokens()
    hasTokens.value = false
    user.value = null
  }

  async function start(): Promise<void> {
    if (status.value) return
    status.value = await call<AuthStatus>('GET', '/auth/status', { open: true })
    if (status.value.mode === 'local') dropTokens()
    if (isSignedIn.value) user.value = await call<AuthUser>('GET', '/auth/me').catch(() => null)
  }

  async function enter(path: '/auth/login' | '/auth/register', credentials: Credentials): Promise<void> {
    const answer = await call<TokenAnswer>('POST', path, { body: credentials, open: true })
    keepTokens(answer)
    hasTokens.value = true
    isLeaving.value = false
    wasCut.value = false
    user.value = answer.user
    if (status.value) status.value = { ...status.value, has_users: true }
  }

  async function logOut(): Promise<void> {
    isLeaving.value = true
    const tokens = readTokens()
    if (tokens) await call('POST', '/auth/logout', { body: { refresh_token: tokens.refresh } }).catch(() => undefined)
    forget()
  }

  return {
    status,
    user,
    isLocal,
    isSignedIn,
    isLeaving,
    wasCut,
    start,
    logIn: (credentials: Credentials) => enter('/auth/login', credentials),
    register: (credentials: Credentials) => enter('/auth/register', credentials),
    logOut,
  }
})
