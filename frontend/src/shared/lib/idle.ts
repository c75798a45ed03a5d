const LATEST_MS = 2000
const PAUSE_MS = 50

/**
 * Ends in a moment in which the page has nothing else to do, so that no frame waits for what follows; after two seconds
 * without one in a task of its own. A browser that does not tell of such moments gets a pause in their place.
 */
export function idleMoment(): Promise<void> {
  return new Promise((resolve) => {
    if (typeof requestIdleCallback === 'function') requestIdleCallback(() => resolve(), { timeout: LATEST_MS })
    else setTimeout(resolve, PAUSE_MS)
  })
}
