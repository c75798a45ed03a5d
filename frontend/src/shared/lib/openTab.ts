/** An address of the web, whole. Throws `TypeError` for any other, such as one that runs a script. */
export function webAddress(url: string): string {
  const address = new URL(url)
  if (!/^https?:$/.test(address.protocol)) throw new TypeError('not an address of the web')
  return address.href
}

export interface OpenedTab {
  goTo(url: string): void
  close(): void
}

/**
 * A tab for a page of somebody else, which has no hold of this one; null where the browser opens none. It is opened at
 * once, before its address is known: one that comes later than the press that asks for it is held back.
 */
export function openTab(): OpenedTab | null {
  const tab = window.open('', '_blank')
  if (!tab) return null
  tab.opener = null
  return { goTo: (url) => tab.location.replace(url), close: () => tab.close() }
}
