/**
 * What somebody can press on a page, and whether something came of it. A page has it as `window.controls`.
 */
window.controls = (() => {
  const PRESSED =
    'button, a[href], select, summary, input[type=checkbox], input[type=radio], input[type=range],' +
    [...'button link menuitem menuitemcheckbox menuitemradio tab option switch checkbox radio treeitem'.split(' ')]
      .map((role) => ` [role=${role}]`)
      .join()
  const PLACES = '[role], dialog, nav, aside, form, fieldset, section, main, header, table, ul, ol, article, details'
  const ROWS = 'li, tr, [role=row], [role=listitem], [role=option], article, [data-key], [data-seq]'
  let found = []
  const words = (text) => (text ?? '').replace(/\s+/g, ' ').trim()
  const ofIds = (ids) =>
    words(
      (ids ?? '')
        .split(' ')
        .map((id) => document.getElementById(id)?.textContent ?? '')
        .join(' '),
    )
  function nameOf(one) {
    return (
      words(one.getAttribute('aria-label')) ||
      ofIds(one.getAttribute('aria-labelledby')) ||
      words([...(one.labels ?? [])].map(({ textContent }) => textContent).join(' ')) ||
      (one.matches('select, input') ? '' : words(one.textContent)) ||
      words(one.title)
    )
  }
  const isShown = (one) => {
    const { width, height } = one.getBoundingClientRect()
    return one.checkVisibility({ visibilityProperty: true }) && width > 0 && height > 0
  }
  /** What is pressed: a control that no eye sees has a label that is. */
  const handOf = (one) => (one.matches('input') && one.closest('label')) || one
  const isThere = (one) =>
    isShown(handOf(one)) &&
    // What lies behind a dialog can't be pressed.
    [...document.querySelectorAll('dialog:modal')].every((dialog) => dialog.contains(one)) &&
    !one.closest('[inert], [aria-hidden=true]') &&
    one.parentElement.closest('button, a[href], [role=option]') === null &&
    (one.getBoundingClientRect().width > 1 || one.matches('input'))
  function placeOf(one) {
    const names = []
    for (let at = one.parentElement?.closest(PLACES); at; at = at.parentElement?.closest(PLACES)) {
      const name = at.matches(ROWS) ? '' : words(at.getAttribute('aria-label')).slice(0, 40)
      names.unshift(`${at.getAttribute('role') ?? at.localName}${name && ` ${name}`}`)
    }
    return names.join(' > ')
  }
  /** In a row its name may be that of what the row is about: there it is known by its picture, or by its own words. */
  function look(one, name) {
    const paths = [...one.querySelectorAll('path, circle, rect, line')].map(({ outerHTML }) => outerHTML)
    const own = paths.length > 0 || one.matches('a, [role=option]') ? paths : [words(one.textContent)]
    const isOfRow = one.closest(ROWS) && !one.matches('[role^=menuitem], [role=tab]')
    const said = isOfRow ? [one.localName, one.className, ...own].join(' ') : name
    return `${placeOf(one)} | ${one.getAttribute('role') ?? one.type ?? one.localName} | ${said}`
  }
  function find() {
    found = [...document.querySelectorAll(PRESSED)].filter(isThere)
    return found.map((one) => {
      const name = nameOf(one)
      const isOff = one.disabled === true || one.matches(':disabled') || one.getAttribute('aria-disabled') === 'true'
      const isChosen =
        (one.matches('input[type=radio]') && one.checked) ||
        ['aria-selected', 'aria-checked'].some(
          (state) =>
            one.getAttribute(state) === 'true' && one.matches('[role=tab], [role=radio], [role=menuitemradio]'),
        ) ||
        one.hasAttribute('aria-current') ||
        // One of several views.
        one.matches('[role=group] > [aria-pressed=true]:not(:only-child)')
      const title = words(one.title)
      const told = ofIds(one.getAttribute('aria-describedby'))
      return {
        key: look(one, name),
        name,
        isOff,
        isChosen,
        reason: told || (title && title !== name ? title : '') || (/[:：]/.test(name) ? name : ''),
        kind: one.matches('select') ? 'select' : one.matches('input[type=range]') ? 'range' : 'press',
      }
    })
  }
  const stateOf = (one) =>
    JSON.stringify([
      location.href,
      [...document.querySelectorAll('input, select, textarea')].map(({ checked, value }) => [checked, value]),
      [...document.querySelectorAll('details')].map(({ open }) => open),
      document.activeElement === one
        ? 'itself'
        : found.indexOf(document.activeElement) + (document.activeElement?.id ?? ''),
      [...document.querySelectorAll('main, [role=log], [role=tabpanel], [data-conversation]')].map(
        ({ scrollTop }) => scrollTop,
      ),
    ])
  /** The focus goes there first, as a press alone would bring it there. It chooses a tab, which is what its press does. */
  function ready(at) {
    if (!found[at].matches('[role=tab]')) found[at].focus({ preventScroll: true })
    found[at].scrollIntoView({ block: 'nearest' })
  }
  /** From here on it is seen what comes of pressing it. */
  function begin(at) {
    const one = found[at]
    const before = stateOf(one)
    const changed = []
    const seen = new MutationObserver((changes) => {
      for (const { target } of changes)
        if (!(target.parentElement ?? target).closest('time, [role=timer]')) changed.push(target)
    })
    seen.observe(document, { subtree: true, childList: true, characterData: true, attributes: true })
    window.came = async (within) => {
      const end = performance.now() + within
      while (performance.now() < end) {
        if (changed.length > 0 || stateOf(one) !== before) return true
        await new Promise(requestAnimationFrame)
      }
      return false
    }
  }
  return { find, hand: (at) => handOf(found[at]), ready, begin }
})()
