import { onScopeDispose, ref, shallowRef, watch } from 'vue'
import { call } from '@/api/client'
import { ApiError } from '@/api/problems'
import type { Spending } from '@/api/types'
import { useProblemText } from '@/api/useProblemText'

export type UsageBy = Spending['by']
export const PERIODS = ['7', '30', '90', '365'] as const
export type Period = (typeof PERIODS)[number]

function zoneHere(): string {
  return Intl.DateTimeFormat().resolvedOptions().timeZone || 'UTC'
}

/** The day so many days before now, as a calendar here has it. */
export function dayBefore(days: number, now = new Date()): string {
  const day = new Date(now.getFullYear(), now.getMonth(), now.getDate() - days)
  const two = (number: number): string => String(number).padStart(2, '0')
  return `${day.getFullYear()}-${two(day.getMonth() + 1)}-${two(day.getDate())}`
}

/** What was used in a period, in days of where the reader is; asked anew when either changes. */
export function useUsage() {
  const by = ref<UsageBy>('day')
  const period = ref<Period>('30')
  const shown = shallowRef<Spending | null>(null)
  const isLoading = ref(false)
  const problem = ref('')
  const problemText = useProblemText()
  let abort = new AbortController()
  let timezone = zoneHere()

  async function fetched(cursor?: string): Promise<Spending> {
    const since = dayBefore(Number(period.value) - 1)
    const query = { by: by.value, since, until: dayBefore(0), timezone, cursor }
    try {
      return await call<Spending>('GET', '/usage', { query, signal: abort.signal })
    } catch (error) {
      // A name of a time zone that only this machine knows.
      if (!(error instanceof ApiError) || error.status !== 422 || timezone === 'UTC') throw error
      timezone = 'UTC'
      return await call<Spending>('GET', '/usage', { query: { ...query, timezone }, signal: abort.signal })
    }
  }
  async function attempt(load: () => Promise<void>): Promise<void> {
    isLoading.value = true
    problem.value = ''
    const mine = abort
    try {
      await load()
    } catch (error) {
      if (!mine.signal.aborted) problem.value = problemText(error)
    } finally {
      if (mine === abort) isLoading.value = false
    }
  }
  const load = async (): Promise<void> => {
    abort.abort()
    const mine = (abort = new AbortController())
    await attempt(async () => {
      const found = await fetched()
      if (mine === abort) shown.value = found
    })
  }
  /** The next page of conversations. */
  const loadMore = async (): Promise<void> => {
    const before = shown.value
    if (!before?.next_cursor || isLoading.value) return
    await attempt(async () => {
      const next = await fetched(before.next_cursor ?? undefined)
      if (shown.value === before) shown.value = { ...next, items: [...before.items, ...next.items] }
    })
  }
  watch([by, period], load, { immediate: true })
  onScopeDispose(() => abort.abort())
  return { by, period, shown, isLoading, problem, load, loadMore }
}
