import { useClipboard, useTimeoutFn } from '@vueuse/core'
import { ref, shallowRef } from 'vue'
import { useI18n } from 'vue-i18n'
import { call } from '@/api/client'
import type { PortAddress } from '@/api/types'
import { useProblemText } from '@/api/useProblemText'
import { openTab, webAddress } from '@/shared/lib/openTab'

/** An address is told for at least so long, whatever the clock here says. */
const SHORTEST_MS = 5_000

/** Signed addresses of a port, which are good for a moment: to be opened in a new tab, or copied. */
export function usePortAddress(sessionId: () => string) {
  const problem = ref('')
  const isAsked = ref(false)
  /** What was copied, until it is good no more. */
  const copied = shallowRef<PortAddress | null>(null)
  const lifeMs = ref(0)
  const life = useTimeoutFn(() => (copied.value = null), lifeMs, { immediate: false })
  const { copy: write } = useClipboard({ legacy: true })
  const problemText = useProblemText()
  const { t } = useI18n()

  async function ask(portId: string): Promise<PortAddress | null> {
    if (isAsked.value) return null
    isAsked.value = true
    problem.value = ''
    copied.value = null
    try {
      const path = `/sessions/${sessionId()}/ports/${portId}/address`
      const { url, expires_at } = await call<PortAddress>('POST', path)
      return { url: webAddress(url), expires_at }
    } catch (error) {
      problem.value = problemText(error)
      return null
    } finally {
      isAsked.value = false
    }
  }
  async function open(portId: string): Promise<void> {
    if (isAsked.value) return
    const tab = openTab()
    if (!tab) {
      problem.value = t('ports.blocked')
      return
    }
    const address = await ask(portId)
    if (address) tab.goTo(address.url)
    else tab.close()
  }
  async function copy(portId: string): Promise<void> {
    const address = await ask(portId)
    if (!address) return
    await write(address.url)
    copied.value = address
    lifeMs.value = Math.max(Date.parse(address.expires_at) - Date.now(), SHORTEST_MS)
    life.start()
  }
  return { problem, isAsked, copied, open, copy }
}
