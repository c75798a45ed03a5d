import { onScopeDispose, ref, shallowRef, watch } from 'vue'
import { call } from '@/api/client'
import type { FileLink } from '@/api/types'

/**
 * An HTML file with its scripts and what is beside it, for a frame: its address has a link to its folder, and what comes
 * from there is of no origin, so that it has nothing of this page. Asked for once it is to run, and anew with each version.
 */
export function useRunningPage(sessionId: () => string, path: () => string, version: () => number) {
  const isOn = ref(false)
  const address = ref('')
  const problem = shallowRef<unknown>(null)
  let abort = new AbortController()

  async function load(): Promise<void> {
    abort.abort()
    abort = new AbortController()
    const { signal } = abort
    const wanted = path()
    const folder = wanted.includes('/') ? wanted.slice(0, wanted.lastIndexOf('/')) : '.'
    const body = { path: folder, folder: true, running: true }
    try {
      const { url } = await call<FileLink>('POST', `/sessions/${sessionId()}/files/link`, { body, signal })
      if (signal.aborted) return
      // Here, wherever links lead to otherwise: the answer itself closes it off.
      const { pathname } = new URL(url, window.location.href)
      address.value = `${pathname}/${encodeURIComponent(wanted.slice(wanted.lastIndexOf('/') + 1))}`
      problem.value = null
    } catch (error) {
      if (signal.aborted) return
      problem.value = error
      isOn.value = false
    }
  }
  watch(path, () => (isOn.value = false))
  watch([isOn, version], ([is]) => {
    if (is) return void load()
    abort.abort()
    address.value = ''
  })
  onScopeDispose(() => abort.abort())
  return { isOn, address, problem }
}
