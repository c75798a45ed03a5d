import { type Ref } from 'vue'
import { useRoute } from 'vue-router'
import { FOLLOWS, panelNamed, shownPanel, usePanel, type Offering } from '@/features/computer'
import { useAddress } from '@/shared/lib/backCloses'

interface Shown {
  /** The conversation is not there yet. */
  readonly isOpening: Readonly<Ref<boolean>>
  readonly showsPanel: Readonly<Ref<boolean>>
  readonly hasComputer: Readonly<Ref<boolean>>
  readonly offering: Readonly<Ref<Offering>>
}
const CALL = 'tool:'

/** The address names the panel that the person chose, and the call or file they look at: a reload shows them again. */
export function usePanelAddress({ isOpening, showsPanel, hasComputer, offering }: Shown) {
  const route = useRoute()
  const panel = usePanel()

  const panelOf = (name: unknown): string | undefined => (name === FOLLOWS ? FOLLOWS : panelNamed(name))
  const callOf = (name: unknown): string | undefined =>
    typeof name === 'string' && /^\d{1,15}$/.test(name) ? name : undefined
  const pathOf = (name: unknown): string | undefined =>
    typeof name === 'string' && name !== '' && name.length <= 4096 ? name : undefined

  useAddress('panel', () => {
    // Until the conversation is there it is not known which is seen, nor forgotten.
    if (isOpening.value) return panelOf(route.query['panel'])
    if (!showsPanel.value) return undefined
    if (!panel.isFollowing) return shownPanel(panel.tab, offering.value)
    // Without a computer a reload shows it for its name alone.
    return hasComputer.value ? undefined : FOLLOWS
  })
  useAddress('call', () => {
    if (isOpening.value) return callOf(route.query['call'])
    return showsPanel.value && panel.shownCall?.startsWith(CALL) ? panel.shownCall.slice(CALL.length) : undefined
  })

  useAddress('path', () => {
    if (isOpening.value) return pathOf(route.query['path'])
    return showsPanel.value && panel.tab === 'files' && !panel.isFollowing ? (panel.shownFile ?? undefined) : undefined
  })

  /** Shows what the address names; false where it names no panel, which then follows the agent. */
  function openNamed(): boolean {
    const path = pathOf(route.query['path'])
    const [name, call] = [panelOf(route.query['panel']), callOf(route.query['call'])]
    const id = panelNamed(name)
    panel.follow()
    if (id !== undefined && call !== undefined) panel.showCall(CALL + call, id)
    else if (id !== undefined) panel.choose(id)
    if (id === 'files' && path !== undefined) panel.shownFile = path
    return name !== undefined
  }
  return { openNamed }
}
