/** Whether the page came by a link or a typed address, and was neither loaded anew nor gone back to. */
export function isLinkFollowed(): boolean {
  const [loaded] = performance.getEntriesByType('navigation') as PerformanceNavigationTiming[]
  return loaded?.type === 'navigate'
}
