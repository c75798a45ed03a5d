import type MarkdownIt from 'markdown-it'

/** A host in Latin letters or digits that goes over into another script, as no name of a host does. */
const HOST_IN_TEXT =
  /\/\/(?:[\w-]+(?:\.[\w-]+)*\.[a-z]{2,24}|localhost|\d+(?:\.\d+){3})(?::\d{1,5})?(?=[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Hangul}])/iuy

/** Addresses in a text become links. They end with the host where words of a script without blanks follow it. */
export function withBareLinks(markdown: InstanceType<typeof MarkdownIt>): void {
  const { linkify } = markdown
  // Names such as notes.md are files here, not hosts.
  linkify.set({ fuzzyLink: false })
  for (const scheme of ['http:', 'https:'])
    linkify.add(scheme, {
      validate: (text, at, self) => {
        for (const pattern of [HOST_IN_TEXT, self.re.get_http_validator()]) {
          pattern.lastIndex = at
          const found = pattern.exec(text)
          if (found) return found[0].length
        }
        return 0
      },
    })
}
