//! The JVM's names of the things that a trace numbers. Ids that the tables do not have give empty names: a trace may be cut off
//! or damaged.

use super::frame::Frame;
use super::types;
use crate::ids::{FieldId, LocationId, MethodId, SiteId};
use crate::names::{Location, Names, Site, SiteKind};

impl Names {
    /// The class of a method, `shop.Stock`.
    pub fn class_of(&self, method: MethodId) -> &str {
        let method = self.methods.get(method.index());
        let class = method.and_then(|method| self.classes.get(method.class.index()));
        class.map_or("", |class| class.name.as_str())
    }

    /// The source file of a method, `Stock.java`.
    pub fn file_of(&self, method: MethodId) -> &str {
        let method = self.methods.get(method.index());
        let class = method.and_then(|method| self.classes.get(method.class.index()));
        class.map_or("", |class| class.file.as_str())
    }

    /// A method within its class, `count()I`.
    pub fn selector(&self, method: MethodId) -> String {
        let method = self.methods.get(method.index());
        method.map_or_else(String::new, |m| format!("{}{}", m.name, m.descriptor))
    }

    /// `shop.Stock.count()I`
    pub fn method_text(&self, method: MethodId) -> String {
        match self.class_of(method) {
            "" => self.selector(method),
            class => format!("{class}.{}", self.selector(method)),
        }
    }

    /// The method that a site is in; none for the unknown site.
    pub fn method_of(&self, site: SiteId) -> Option<MethodId> {
        let site = self.sites.get(site.index()).filter(|_| site != SiteId(0));
        site.map(|s| s.method).filter(|m| m.index() < self.methods.len())
    }

    /// The class that a site is in, `shop.Stock`.
    pub fn class_of_site(&self, site: SiteId) -> &str {
        self.method_of(site).map_or("", |method| self.class_of(method))
    }

    /// The source line of a site, 0 if unknown.
    pub fn line(&self, site: SiteId) -> u32 {
        self.sites.get(site.index()).map_or(0, |site| site.line)
    }

    /// A method, and the line of a site in it.
    pub fn frame(&self, method: MethodId, site: SiteId) -> Frame<'_> {
        Frame {
            class: self.class_of(method),
            method: self.methods.get(method.index()).map_or("", |m| m.name.as_str()),
            file: self.file_of(method),
            line: self.line(site),
        }
    }

    /// A site by its method and bytecode index, `shop.Stock.count()I 12`: the same in every trace of one program.
    pub fn site_text(&self, site: SiteId) -> String {
        match (self.sites.get(site.index()), self.method_of(site)) {
            (Some(place), Some(method)) => format!("{} {}", self.method_text(method), place.bci),
            _ => String::new(),
        }
    }

    /// `shop.Stock.items`; `x` for a variable of an imported trace.
    pub fn field_text(&self, field: FieldId) -> String {
        let Some(field) = self.fields.get(field.index()) else {
            return String::new();
        };
        match self.classes.get(field.class.index()) {
            Some(class) if !class.name.is_empty() => format!("{}.{}", class.name, field.name),
            _ => field.name.clone(),
        }
    }

    /// A location as one of its trace: `shop.Stock.items`, `shop.Stock.items{7}` for a key's part of a modelled state,
    /// `array 12[3]`, or the variable's name in an imported trace. Different locations may have the same name.
    pub fn location_name(&self, location: LocationId) -> String {
        match self.locations[location.index()] {
            Location::Field(_, field) | Location::Static(field) => self.field_text(field),
            Location::Named(field) => self.fields[field.index()].name.clone(),
            Location::Entry(_, field, key) => format!("{}{{{key}}}", self.field_text(field)),
            Location::Element(array, index) => {
                format!("array {}[{index}]", array.0 & (crate::raw::TABLE_OBJECT - 1))
            }
        }
    }

    /// A location as the variable of a program: `shop.Stock.items`, `int[] in shop.Stock` for an element of an array (by the
    /// class of the site), `x` for an imported variable. No numbers of objects, indices or runs.
    pub fn variable_name(&self, location: LocationId, site: SiteId) -> String {
        match self.locations[location.index()] {
            Location::Named(field) => self.fields[field.index()].name.clone(),
            Location::Field(_, field) | Location::Entry(_, field, _) | Location::Static(field) => {
                self.field_text(field)
            }
            Location::Element(..) => {
                let array = match self.sites.get(site.index()) {
                    Some(place) => types::array(self.array_type(place)),
                    None => types::array(""),
                };
                match self.sites.get(site.index()).map_or("", |s| self.class_of(s.method)) {
                    "" => array,
                    class => format!("{array} in {class}"),
                }
            }
        }
    }

    /// The type of the array whose element is accessed at a site. A call of a handle does not tell it: it is the type of all other
    /// arrays that code of the class accesses, if they have one.
    fn array_type<'a>(&'a self, place: &'a Site) -> &'a str {
        if let SiteKind::Element(descriptor) = &place.what {
            return descriptor;
        }
        let class = self.class_of(place.method);
        let mut others = self.sites.iter().filter_map(|other| match &other.what {
            SiteKind::Element(descriptor) if self.class_of(other.method) == class => Some(descriptor.as_str()),
            _ => None,
        });
        let first = others.next().unwrap_or("");
        if others.all(|other| other == first) { first } else { "" }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ids::{ClassId, ObjectId};
    use crate::names::{Class, Field, Method};

    fn names() -> Names {
        Names {
            classes: vec![Class {
                name: "shop.Stock".to_owned(),
                file: "Stock.java".to_owned(),
                ..Class::default()
            }],
            methods: vec![Method {
                class: ClassId(0),
                name: "count".to_owned(),
                descriptor: "()I".to_owned(),
                ..Method::default()
            }],
            fields: vec![Field {
                name: "items".to_owned(),
                ..Field::default()
            }],
            sites: vec![
                Site::default(),
                Site {
                    method: MethodId(0),
                    bci: 12,
                    line: 14,
                    what: SiteKind::Element("[I".to_owned()),
                },
            ],
            locations: vec![
                Location::Field(ObjectId(1), FieldId(0)),
                Location::Element(ObjectId(2), 3),
            ],
            ..Names::default()
        }
    }

    #[test]
    fn ids_have_names() {
        let names = names();
        let (method, site) = (MethodId(0), SiteId(1));
        assert_eq!(names.method_text(method), "shop.Stock.count()I");
        assert_eq!(
            names.frame(method, site).to_string(),
            "shop.Stock.count (Stock.java:14)"
        );
        assert_eq!(names.site_text(site), "shop.Stock.count()I 12");
        assert_eq!(names.class_of_site(site), "shop.Stock");
        assert_eq!(names.variable_name(LocationId(0), site), "shop.Stock.items");
        assert_eq!(names.variable_name(LocationId(1), site), "int[] in shop.Stock");
        assert_eq!(names.location_name(LocationId(1)), "array 2[3]");
    }

    #[test]
    fn ids_that_no_table_has_are_nameless() {
        let names = names();
        let (method, site) = (MethodId(7), SiteId(7));
        assert_eq!((names.method_text(method), names.site_text(site)), Default::default());
        assert_eq!(names.frame(method, site), Frame::default());
        assert_eq!(names.method_of(SiteId(0)), None);
        assert_eq!(names.field_text(FieldId(7)), "");
    }
}
