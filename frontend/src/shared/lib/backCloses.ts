import { nextTick, onScopeDispose, shallowReactive, watch, type Ref } from 'vue'
import { isNavigationFailure, NavigationFailureType, type Router } from 'vue-router'

/** What covers the page now, and how many entries of the history stand between it and the page; 0 until it has one. */
const covers = shallowReactive(new Map<Ref<boolean>, number>())
const depthOf = (): number => Math.max(0, ...covers.values())
const depthHere = (): number => Number((history.state as { covered?: number | boolean } | null)?.covered ?? 0)

/** What the address names behind its path, by key. */
const named = shallowReactive(new Map<string, string | undefined>())

/** The address names this, so that a link or a reload leads to it again; it has no entry of its own in the history. */
export function useAddress(key: string, value: () => string | undefined): void {
  watch(value, (is) => named.set(key, is), { immediate: true })
  onScopeDispose(() => named.delete(key))
}

/** Going back in the browser closes this, instead of leaving the page under it. */
export function useBackCloses(open: Ref<boolean>): void {
  watch(open, (isOpen) => (isOpen ? covers.set(open, 0) : covers.delete(open)), { immediate: true })
  onScopeDispose(() => covers.delete(open))
}

/**
 * Gives what covers the page entries of its own in the history, one for what opens at the same moment: going back from
 * it closes it, closing it leaves its entry, and a way elsewhere takes its place. What the address names is written by
 * the same hand, as of two navigations at once the second ends the first.
 */
export function letBackClose(router: Router): void {
  let depth = 0
  let isReplacing = false
  let isLeaving = false
  /** The browser steps back, and has not arrived. */
  let isSteppingBack = false
  let isUnderWay = false

  const namedQuery = () => ({ ...router.currentRoute.value.query, ...Object.fromEntries(named) })
  function writeAddress(): void {
    const { path, query, hash } = router.currentRoute.value
    if (isUnderWay || isLeaving || [...named].every(([key, value]) => query[key] === value)) return
    void router.replace({ path, query: namedQuery(), hash })
  }
  function leaveEntries(): void {
    if (isLeaving) return
    isLeaving = true
    // What closes a cover often goes elsewhere at once, which leaves its entry too.
    setTimeout(() => {
      const over = depthHere() - depthOf()
      isLeaving = isSteppingBack = over > 0
      if (isLeaving) router.go(-over)
      else writeAddress()
    })
  }
  function enterCovers(): void {
    const fresh = [...covers].filter(([, at]) => at === 0).map(([cover]) => cover)
    // The entry that is still here is being left: what opens meanwhile gets its own afterwards.
    if (isSteppingBack && fresh.length > 0) return
    const wanted = depthOf() + (fresh.length > 0 ? 1 : 0)
    for (const cover of fresh) covers.set(cover, wanted)
    if (wanted < depthHere()) return leaveEntries()
    // One that is still to hear that it is closed gets no entry anew.
    if (fresh.length === 0 || wanted === depthHere()) return
    const { path, hash } = router.currentRoute.value
    void router.push({ path, query: namedQuery(), hash, force: true, state: { covered: wanted } })
  }
  watch(() => [...covers], enterCovers)
  watch(
    () => [...named],
    // What names something else often goes elsewhere or opens a cover at once: a navigation of theirs has begun by then.
    () => void setTimeout(writeAddress),
  )
  router.beforeEach((to, from) => {
    isUnderWay = true
    isReplacing = depth > 0 && to.path !== from.path && !isReplacing
    if (!isReplacing) return true
    return { path: to.path, query: to.query, hash: to.hash, replace: true, state: { covered: 0 } }
  })
  router.afterEach((_to, _from, failure) => {
    isUnderWay = isNavigationFailure(failure, NavigationFailureType.cancelled)
    const hasSteppedBack = isSteppingBack && !isUnderWay
    if (hasSteppedBack) isSteppingBack = false
    const isHereAlready = isNavigationFailure(failure, NavigationFailureType.duplicated)
    if (failure && !isHereAlready) return
    isLeaving = false
    depth = depthHere()
    const kept = isHereAlready ? 0 : depth
    const closed = [...covers].filter(([, at]) => at > kept).map(([cover]) => cover)
    for (const cover of closed) cover.value = false
    // One that asks first, and is not closed yet, gets an entry again.
    void nextTick(() => {
      for (const cover of closed) if (cover.value && covers.has(cover)) covers.set(cover, 0)
    })
    if (depth > depthOf()) leaveEntries()
    else if (hasSteppedBack && [...covers.values()].includes(0)) enterCovers()
    // Whoever names something hears of the new place first.
    else void nextTick(writeAddress)
  })
  router.onError(() => (isUnderWay = isSteppingBack = false))
}
