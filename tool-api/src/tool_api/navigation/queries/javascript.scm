(class_declaration name: (identifier) @name) @symbol.class
(class name: (identifier) @name) @symbol.class
(variable_declarator name: (identifier) @name value: (class)) @symbol.class
(field_definition property: [(property_identifier) (private_property_identifier)] @name) @symbol.field
