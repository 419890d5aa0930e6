// Name, version and homepage of this build, filled in from package.json by build.mjs.

declare const PLUGIN_VERSION: string;
declare const PLUGIN_HOMEPAGE: string;

export const VERSION = PLUGIN_VERSION;
export const HOMEPAGE = PLUGIN_HOMEPAGE;
