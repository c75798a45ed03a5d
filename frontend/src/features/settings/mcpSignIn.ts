import { useEventListener } from '@vueuse/core'
import { ref } from 'vue'
import { call } from '@/api/client'
import { openTab, webAddress } from '@/shared/lib/openTab'

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
    const tab = openTab()
    const isBegun = await during(name, async () => {
      const begun = await call<{ url: string }>('POST', `/mcp/${encodeURIComponent(name)}/sign-in`)
      const url = webAddress(begun.url)
      awaited = name
      if (tab) tab.goTo(url)
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
