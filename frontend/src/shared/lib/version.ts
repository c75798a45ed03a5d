declare const __APP_VERSION__: string
declare const __APP_COMMIT__: string

/** Version of this page, as its package names it. */
export const appVersion = typeof __APP_VERSION__ === 'string' ? __APP_VERSION__ : ''

/** Short id of the commit it was built from; empty where it was built without git. */
export const appCommit = typeof __APP_COMMIT__ === 'string' ? __APP_COMMIT__ : ''
