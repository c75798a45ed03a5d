import { defineStore } from 'pinia'
import { computed, ref } from 'vue'
import { call, enter, leave, onSignedOut } from '@/api/client'
import {
  dropLogIn,
  dropLogInLater,
  hasLogIn,
  isLeaving as isStillLeaving,
  markedUser,
  onLogInChanged,
} from '@/api/tokens'
import type { AuthStatus, AuthUser } from '@/api/types'
import { knowUploadLimit } from '@/api/uploadLimit'
import { forgetUnsentWords } from '@/shared/lib/storage'

export interface Credentials {
  username: string
  password: string
}

/** Who we are: in local mode nobody has to say, else whoever logged in. */
export const useAuth = defineStore('auth', () => {
  const status = ref<AuthStatus | null>(null)
  const user = ref<AuthUser | null>(null)
  const isLoggedIn = ref(hasLogIn())
  const isLeaving = ref(false)
  /** The log-in ended without this page's asking: logged out elsewhere, expired, password changed, account closed. */
  const wasCut = ref(false)
  const isLocal = computed(() => status.value?.mode === 'local')
  const isSignedIn = computed(() => isLocal.value || isLoggedIn.value)

  /** Whether what is sent goes as who is shown here, and not as somebody who logged in beside them. */
  const isStillHere = (): boolean => isLocal.value || user.value === null || markedUser() === user.value.id

  onSignedOut(() => {
    wasCut.value = !isLeaving.value
    forget()
  })
  onLogInChanged(() => {
    isLoggedIn.value = hasLogIn()
    if (!isLoggedIn.value) wasCut.value = !isLeaving.value
    else void recognise()
  })

  /** Somebody logged in elsewhere; what stands here may be another account's. */
  async function recognise(): Promise<void> {
    const before = user.value?.id
    const now = await call<AuthUser>('GET', '/auth/me').catch(() => null)
    if (now && before !== undefined && now.id !== before) location.assign('/')
    else if (now) user.value = now
  }

  function forget(): void {
    dropLogIn()
    isLoggedIn.value = false
    user.value = null
  }

  async function start(): Promise<void> {
    if (status.value) return
    status.value = await call<AuthStatus>('GET', '/auth/status', { open: true })
    knowUploadLimit(status.value.max_upload_bytes)
    if (status.value.mode === 'local') dropLogIn()
    else if (isStillLeaving() && (await leave())) dropLogIn()
    // Of an older server it is asked.
    if (isSignedIn.value) user.value = status.value.user ?? (await call<AuthUser>('GET', '/auth/me').catch(() => null))
  }

  async function begin(path: '/auth/login' | '/auth/register', credentials: Credentials): Promise<void> {
    user.value = (await enter(path, credentials)).user
    isLoggedIn.value = true
    isLeaving.value = false
    wasCut.value = false
    if (status.value) status.value = { ...status.value, has_users: true }
  }

  async function logOut(): Promise<void> {
    isLeaving.value = true
    const account = user.value?.id ?? ''
    const isTold = await leave()
    forget()
    forgetUnsentWords(account)
    if (!isTold) dropLogInLater()
  }

  async function logOutEverywhere(): Promise<void> {
    const account = user.value?.id ?? ''
    await call('POST', '/auth/logout-all')
    isLeaving.value = true
    forget()
    forgetUnsentWords(account)
  }

  async function changePassword(old: string, next: string): Promise<void> {
    user.value = (await enter('/auth/password', { old_password: old, new_password: next })).user
  }

  return {
    status,
    user,
    isLocal,
    isSignedIn,
    isLeaving,
    wasCut,
    isStillHere,
    start,
    logIn: (credentials: Credentials) => begin('/auth/login', credentials),
    register: (credentials: Credentials) => begin('/auth/register', credentials),
    logOut,
    logOutEverywhere,
    changePassword,
  }
})
