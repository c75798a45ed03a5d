import { computed, onScopeDispose, watch, type Ref } from 'vue'
import { placeOf, type ToolCard } from '@/features/tools'
import { offerShownCall } from '@/shared/lib/shownCall'
import type { Computer } from './computer'
import { followedPlace } from './following'
import { usePanel } from './panel'

/** Faster than this nobody reads what a tab shows. */
const AT_MOST_EVERY_MS = 150

/**
 * Turns the panel to the tool at work, as long as it follows. `own` are the calls of the agent the person talks to,
 * `all` those of others too. `isSeen` says whether a card that is opened is shown in the panel too. `known` tells
 * whether there is a live desktop to watch.
 */
export function useFollowing(
  own: Readonly<Ref<readonly ToolCard[]>>,
  all: Readonly<Ref<readonly ToolCard[]>>,
  isSeen: () => boolean,
  known: Readonly<Ref<{ readonly computer: Computer }>>,
): void {
  const panel = usePanel()
  const isDesktopLive = computed(() => known.value.computer.status === 'ready' && known.value.computer.hasDesktop)
  const place = computed(() => followedPlace(own.value, isDesktopLive.value))
  let turnedAt = 0
  let timer = 0

  function turn(): void {
    turnedAt = Date.now()
    if (panel.isFollowing) panel.tab = place.value
  }
  watch(
    () => (panel.isFollowing ? place.value : null),
    (followed) => {
      clearTimeout(timer)
      if (followed === null || followed === panel.tab) return
      const left = turnedAt + AT_MOST_EVERY_MS - Date.now()
      if (left <= 0) turn()
      else timer = window.setTimeout(turn, left)
    },
    { immediate: true },
  )
  onScopeDispose(() => clearTimeout(timer))
  offerShownCall({
    key: computed(() => panel.shownCall),
    show: (key) => {
      const card = isSeen() ? all.value.find((one) => one.key === key) : undefined
      if (card) panel.showCall(key, placeOf(card))
    },
  })
}
