//! The description of a module.

use super::item::item;

item! {
    /// A module's description.
    Module {
        /// Its name: a module constant.
        name: u16,
        /// Its flags.
        flags: u16,
        /// Its version; 0 if none.
        version: u16,
        /// The modules it requires.
        requires: Vec<ModuleRequires>,
        /// The packages it exports.
        exports: Vec<ModuleExports>,
        /// The packages it opens.
        opens: Vec<ModuleExports>,
        /// The services it uses: classes.
        uses: Vec<u16>,
        /// The services it provides.
        provides: Vec<ModuleProvides>,
    }
}

item! {
    /// A module that a module requires.
    ModuleRequires {
        /// The module.
        module: u16,
        /// The flags.
        flags: u16,
        /// The version it was compiled with; 0 if none.
        version: u16,
    }
}

item! {
    /// A package that a module exports or opens.
    ModuleExports {
        /// The package.
        package: u16,
        /// The flags.
        flags: u16,
        /// The modules it is exported to; empty for all.
        to: Vec<u16>,
    }
}

item! {
    /// A service that a module provides.
    ModuleProvides {
        /// The service: a class.
        service: u16,
        /// The implementations: classes.
        with: Vec<u16>,
    }
}
