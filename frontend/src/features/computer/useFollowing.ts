import { computed, onScopeDispose, watch, type Ref } from 'vue'
import { placeOf, type ToolCard } from '@/features/tools'
import { offerShownCall } from '@/shared/lib/shownCall'
import { followedPlace } from './following'
import { usePanel } from './panel'

/** Faster than this nobody reads what a tab shows. */
const AT_MOST_EVERY_MS = 150

/**
 * Turns the panel to the tool at work, as long as it follows. `own` are the calls of the agent the person talks to,
 * `all` those of others too. `isSeen` says whether a card that is opened is shown in the panel too.
 */
export function useFollowing(
  own: Readonly<Ref<readonly ToolCard[]>>,
  all: Readonly<Ref<readonly ToolCard[]>>,
  isSeen: () => boolean,
): void {
  const panel = usePanel()
  let turnedAt = 0
  let timer = 0

  function turn(): void {
    turnedAt = Date.now()
    if (panel.isFollowing) panel.tab = followedPlace(own.value)
  }
  watch(
    () => (panel.isFollowing ? followedPlace(own.value) : null),
    (place) => {
      clearTimeout(timer)
      if (place === null || place === panel.tab) return
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
