/** Node’s own `navigator` is shared by all files of specs: a lock that one holds would be waited for in the next. */
Object.defineProperty(navigator, 'locks', { configurable: true, value: undefined })
