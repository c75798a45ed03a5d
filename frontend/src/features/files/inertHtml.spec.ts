// @vitest-environment jsdom
import { describe, expect, it } from 'vitest'
import { inertHtml } from './inertHtml'

describe('inertHtml', () => {
  it('keeps what is shown and how', () => {
    const html = inertHtml(
      '<title>T</title><style>p{color:red}</style><p>shown <img src="data:image/png;base64,AA"></p>',
    )
    expect(html).toContain('<style>p{color:red}</style>')
    expect(html).toContain('shown <img src="data:image/png;base64,AA">')
  })
  it('keeps animations of anything else', () => {
    expect(inertHtml('<svg><animate attributeName="x" to="5"/></svg>')).toContain('attributeName="x"')
  })
  it('begins with a policy that nothing before it loosens', () => {
    const html = inertHtml('<meta http-equiv="Content-Security-Policy" content="default-src *"><p>x')
    expect(html?.match(/<meta/g)).toHaveLength(1)
    expect(html).toMatch(/^<!doctype html><meta http-equiv="Content-Security-Policy" content="default-src 'none'; /)
  })
  it.each([
    '<script>1</script>',
    '<link rel="preconnect" href="http://elsewhere.example">',
    '<link rel="dns-prefetch" href="//elsewhere.example">',
    '<meta http-equiv="refresh" content="0;url=http://elsewhere.example">',
    '<base href="http://elsewhere.example">',
    '<iframe src="http://elsewhere.example"></iframe>',
    '<object data="http://elsewhere.example"></object>',
    '<a href="http://elsewhere.example" ping="http://elsewhere.example">x</a>',
    '<svg><script>1</script></svg>',
    '<svg><a xlink:href="http://elsewhere.example"><text>x</text></a></svg>',
    '<div><template shadowrootmode="open"><a href="http://elsewhere.example">x</a></template></div>',
    '<svg><a><set attributeName="href" to="http://elsewhere.example"/><text>x</text></a></svg>',
    '<svg><a><animate attributeName="xlink:href" values="http://elsewhere.example;x"/></a></svg>',
    '<svg><a><ANIMATE ATTRIBUTENAME=" HREF " to="http://elsewhere.example"/></a></svg>',
    '<math href="http://elsewhere.example"><mi xlink:href="http://elsewhere.example">x</mi></math>',
    '<xmp><link rel="preconnect" href="http://elsewhere.example"></xmp>',
  ])('takes out of %s what reaches out', (source) => {
    expect(inertHtml(source)).not.toMatch(/elsewhere|<script/)
  })
  it.each([
    '<form><math><mtext></form><form><mglyph><style></math><link rel="preconnect" href="http://elsewhere.example">',
    '<math><mtext><table><mglyph><style><!--</style><link title="--&gt;<link href=http://elsewhere.example>">',
    '<svg></p><style><a id="</style><link rel=preconnect href=http://elsewhere.example>">',
    '<noscript><p title="</noscript><link rel=preconnect href=http://elsewhere.example>"></noscript>',
  ])('leaves nothing that becomes markup when %s is parsed once more', (source) => {
    const html = inertHtml(source) ?? ''
    const again = new DOMParser().parseFromString(html, 'text/html')
    expect([...again.querySelectorAll('link, a[href], script')]).toEqual([])
  })
})
