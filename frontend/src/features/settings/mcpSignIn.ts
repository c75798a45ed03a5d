import { useEventListener } from '@vueuse/core'
import { ref } from 'vue'
import { call } from '@/api/client'

/**
 * Signing in at an MCP server in a tab of its own. `during` does the work; once the person is back on this page, `onBack`
 * is told at which server that was begun.
 */
export function useMcpSignIn(
  during: (name: string, work: () => Promise<unknown>) => Promise<boolean>,
  onBack: (name: string) => void,
) {
  /** Where it goes on, if the browser opened no tab for it. */
  const blocked = ref<{ name: string; url: string } | null>(null)
  let awaited = ''

  /** To be called by a click: only that may open a tab. */
  async function signIn(name: string): Promise<boolean> {
    blocked.value = null
    const tab = window.open('about:blank', '_blank')
    // What is shown there is another's page, which must not lead this one elsewhere.
    if (tab) tab.opener = null
    const isBegun = await during(name, async () => {
      const { url } = await call<{ url: string }>('POST', `/mcp/${encodeURIComponent(name)}/sign-in`)
      if (!/^https?:\/\//i.test(url)) throw new Error('no address of a page')
      awaited = name
      if (tab) tab.location.replace(url)
      else blocked.value = { name, url }
    })
    if (!isBegun) tab?.close()
    return isBegun
  }
  function look(): void {
    if (awaited && document.visibilityState === 'visible') onBack(awaited)
  }
  function end(): void {
    awaited = ''
    blocked.value = null
  }
  useEventListener(window, 'focus', look)
  useEventListener(document, 'visibilitychange', look)
  return { signIn, blocked, end }
}
