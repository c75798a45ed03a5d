import { onScopeDispose, shallowReactive, watch, type Ref } from 'vue'
import { isNavigationFailure, NavigationFailureType, type Router } from 'vue-router'

/** What covers the page now. */
const covers = shallowReactive(new Set<Ref<boolean>>())
const isOnCover = (): boolean => (history.state as { covered?: boolean } | null)?.covered === true

/** Going back in the browser closes this, instead of leaving the page under it. */
export function useBackCloses(open: Ref<boolean>): void {
  watch(open, (isOpen) => (isOpen ? covers.add(open) : covers.delete(open)), { immediate: true })
  onScopeDispose(() => covers.delete(open))
}

/**
 * Gives what covers the page an entry of its own in the history: going back from it closes the cover, closing the cover
 * leaves it, and a way elsewhere takes its place.
 */
export function letBackClose(router: Router): void {
  let stoodOnCover = false
  let isReplacing = false

  function leaveCover(): void {
    // What closes a cover often goes elsewhere at once, which leaves its entry too.
    setTimeout(() => covers.size === 0 && isOnCover() && router.back())
  }
  watch(
    () => covers.size > 0,
    (isCovered) => {
      if (!isCovered) return leaveCover()
      const { path, query, hash } = router.currentRoute.value
      if (!isOnCover()) void router.push({ path, query, hash, force: true, state: { covered: true } })
    },
  )
  router.beforeEach((to, from) => {
    isReplacing = stoodOnCover && to.fullPath !== from.fullPath && !isReplacing
    if (!isReplacing) return true
    return { path: to.path, query: to.query, hash: to.hash, replace: true, state: { covered: false } }
  })
  router.afterEach((_to, _from, failure) => {
    const isHereAlready = isNavigationFailure(failure, NavigationFailureType.duplicated)
    if (failure && !isHereAlready) return
    stoodOnCover = isOnCover()
    if (stoodOnCover && covers.size === 0) leaveCover()
    if (!stoodOnCover || isHereAlready) for (const cover of [...covers]) cover.value = false
  })
}
